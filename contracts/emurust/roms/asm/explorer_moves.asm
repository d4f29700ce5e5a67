; The player's cell is seen.
see:
    ld a, [x]
    ld d, a
    ld a, [y]
    ld e, a
    call cell
    push hl
    ld a, l                 ; c = the bit of x & 7
    and 7
    ld b, a
    inc b
    ld c, 1
    jr .shifted
.shift:
    sla c
.shifted:
    dec b
    jr nz, .shift
    srl h                   ; hl = the byte's address
    rr l
    srl h
    rr l
    srl h
    rr l
    ld h, high(bitmap)
    ld a, [hl]
    and c
    jr nz, .old
    ld a, [hl]
    or c
    ld [hl], a
    ld hl, seen
    inc [hl]
    jr nz, .counted
    inc hl
    inc [hl]
.counted:
    ld a, 1
    ld [dirty], a
    pop hl
    ld bc, MAP0
    add hl, bc
    ld a, l
    ld [paint], a
    ld a, h
    ld [paint + 1], a
    ret
.old:
    pop hl
    ret

frame:
    call show
    ld hl, left             ; the time
    ld a, [hl]
    sub 1
    ld [hl+], a
    ld a, [hl]
    sbc a, 0
    ld [hl-], a
    or [hl]
    jp z, game_over

    ld a, [x]               ; the player turns in the middle of a cell only
    ld d, a
    ld a, [y]
    ld e, a
    or d
    and 7
    jr nz, .walk
    call keys
    ld hl, 0                ; h = step_x, l = step_y
    bit RIGHT_KEY, b
    jr z, .not_right
    ld h, 2
    jr .chosen
.not_right:
    bit LEFT_KEY, b
    jr z, .not_left
    ld h, -2
    jr .chosen
.not_left:
    bit DOWN_KEY, b
    jr z, .not_down
    ld l, 2
    jr .chosen
.not_down:
    bit UP_KEY, b
    jr z, .chosen
    ld l, -2
.chosen:
    ld b, h
    ld c, l
    call ahead
    jr z, .step
    ld bc, 0
.step:
    ld a, b
    ld [step_x], a
    ld a, c
    ld [step_y], a
.walk:
    ld hl, step_x
    ld a, [x]
    add a, [hl]
    ld [x], a
    ld b, a
    inc hl
    ld a, [y]
    add a, [hl]
    ld [y], a
    or b
    and 7
    call z, see

    ld hl, ghosts
    ld b, GHOSTS
.ghost:
    push bc
    call ghost
    pop bc
    dec b
    jr nz, .ghost
    ret

; Z if the cell next to pixel d, e in the direction b, c (steps of 1 or 2 pixels) is free.
; Changes a, de, hl.
ahead:
    ld a, b                 ; a step of -2 becomes -8: only bits 7 and 1 or 0 matter
    call .eight
    add a, d
    ld d, a
    ld a, c
    call .eight
    add a, e
    ld e, a
    jp is_free
.eight:                     ; 8 with the sign of a, or 0
    or a
    ret z
    bit 7, a
    ld a, 8
    ret z
    ld a, -8
    ret

game_over:
    ld a, 1
    ld [over], a
    ret

; Moves the ghost at hl by a pixel; then hl is at the next one.
ghost:
    ld a, [hl+]
    ld d, a
    ld a, [hl-]
    ld e, a
    or d
    and 7
    jr nz, .walk
    push hl
    call random
    rrca                    ; two bits from the middle choose one of four directions
    rrca
    rrca
    and 3
    add a, a
    add a, low(directions)
    ld l, a
    ld a, high(directions)
    adc a, 0
    ld h, a
    ld a, [hl+]
    ld b, a
    ld c, [hl]
    push de
    call ahead
    pop de
    jr z, .free
    ld bc, 0                ; a wall: wait a frame and draw again
.free:
    pop hl
    inc hl
    inc hl
    ld [hl], b
    inc hl
    ld [hl], c
    dec hl
    dec hl
    dec hl
.walk:
    inc hl
    inc hl
    ld a, [hl+]             ; d, e = where it goes
    add a, d
    ld d, a
    ld a, [hl-]
    add a, e
    ld e, a
    ld a, [x]               ; nearer than 6 pixels in both directions?
    sub d
    add a, 5
    cp 11
    jr nc, .away
    ld a, [y]
    sub e
    add a, 5
    cp 11
    jr nc, .away
    push hl
    ld hl, lives
    dec [hl]
    call z, game_over
    ld a, 1
    ld [dirty], a
    ld a, [x]               ; off to an even cell on the other side of the world
    add a, 128
    and $F0
    ld d, a
    ld a, [y]
    add a, 128
    and $F0
    ld e, a
    pop hl
.away:
    dec hl
    ld [hl], e
    dec hl
    ld [hl], d
    inc hl
    inc hl
    inc hl
    inc hl
    ret
directions:
    db 1, 0, -1, 0, 0, 1, 0, -1
