; Copies bc bytes from de to hl.
copy:
    ld a, [de]
    inc de
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, copy
    ret

; Writes bc times the byte d to hl.
fill:
    ld a, d
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, fill
    ret

; a = the next random byte. xorshift with 7, 9, 8 on 16 bits. Changes hl.
random:
    ld a, [prng]
    ld l, a
    ld a, [prng + 1]
    ld h, a
    rra                     ; x ^= x << 7. The high byte of x << 7 is h0 l7 l6 ... l1,
    ld a, l
    rra
    xor h
    ld h, a
    ld a, l                 ; the low one is l0 and zeros
    rrca
    and $80
    xor l
    ld l, a
    ld a, h                 ; x ^= x >> 9
    srl a
    xor l
    ld l, a
    xor h                   ; x ^= x << 8
    ld h, a
    ld [prng + 1], a
    ld a, l
    ld [prng], a
    add a, h                ; not a plain byte of the state: one could be had for each state
    ret

; a = bits of the keys held. Changes b.
keys:
    ld a, $20               ; the line of the four directions is selected by a zero in bit 4
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    swap a
    ld b, a
    ld a, $10
    ldh [P1], a
    ldh a, [P1]
    ldh a, [P1]
    cpl
    and $0F
    or b
    ld b, a
    ld a, $30
    ldh [P1], a
    ld a, b
    ret

; Copies the 160 bytes at SPRITES to OAM. Runs in high RAM, the only memory that is safe meanwhile.
sprite_copier:
    ld a, high(SPRITES)
    ldh [DMA], a
    ld a, 40
.busy:
    dec a
    jr nz, .busy
    ret
sprite_copier_end:
copy_sprites = HRAM_CODE

; Writes hl in four digits at de. Changes a, b, c, hl.
print_word:
    ld bc, -1000
    call print_digit
print_hundreds:
    ld bc, -100
    call print_digit
    ld bc, -10
    call print_digit
    ld a, l
    add a, '0'
    ld [de], a
    inc de
    ret
print_digit:                ; how often -bc goes into hl
    ld a, '0' - 1
.again:
    inc a
    add hl, bc
    jr c, .again
    ld [de], a
    inc de
    ld a, l                 ; once too often
    sub c
    ld l, a
    ld a, h
    sbc a, b
    ld h, a
    ret

; Writes a in three digits at de. Changes a, b, c, hl.
print_byte:
    ld l, a
    ld h, 0
    jr print_hundreds
