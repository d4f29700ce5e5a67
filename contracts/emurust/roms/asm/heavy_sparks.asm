; Heavy's sparks. All routines are called with hl at the spark's 8 bytes
; (x, y, speed_x, speed_y, each low byte first) and keep hl.

RIGHT_EDGE = 152
FLOOR = 128
GRAVITY = 16                ; in 1/256 pixels a frame, each frame

; x = x + speed_x, with wind by a table; off the walls with the speed turned.
move_sideways:
    push hl
    ld a, [hl+]
    ld c, a
    ld a, [hl+]
    ld b, a                 ; bc = x
    inc l
    inc l
    ld a, [hl+]
    ld e, a
    ld d, [hl]              ; de = speed_x
    ld a, [ticks]           ; the wind turns slowly, and not for all at once
    srl a
    srl a
    add a, l
    and 31
    add a, low(wind)
    ld l, a
    ld a, high(wind)
    adc a, 0
    ld h, a
    ld a, [hl]
    ld l, a
    rla                     ; h = its sign
    sbc a, a
    ld h, a
    add hl, de
    ld d, h
    ld e, l
    ld a, 6                 ; drag: speed_x -= speed_x / 64
.drag:
    sra h
    rr l
    dec a
    jr nz, .drag
    ld a, e
    sub l
    ld e, a
    ld a, d
    sbc a, h
    ld d, a
    ld h, b
    ld l, c
    add hl, de
    ld a, h
    cp RIGHT_EDGE
    jr c, .inside
    xor a                   ; turned, and this frame it stays
    sub e
    ld e, a
    ld a, 0
    sbc a, d
    ld d, a
    ld h, b
    ld l, c
.inside:
    ld b, h
    ld c, l
    pop hl
    push hl
    ld a, c
    ld [hl+], a
    ld a, b
    ld [hl+], a
    inc l
    inc l
    ld a, e
    ld [hl+], a
    ld [hl], d
    pop hl
    ret

; y = y + speed_y under gravity. On the floor it loses an eighth of its speed, and when it has
; become slow it is thrown up anew.
move_down:
    push hl
    inc l
    inc l
    ld a, [hl+]
    ld c, a
    ld a, [hl+]
    ld b, a                 ; bc = y
    inc l
    inc l
    ld a, [hl+]
    add a, GRAVITY
    ld e, a
    ld a, [hl]
    adc a, 0
    ld d, a                 ; de = speed_y
    ld h, b
    ld l, c
    add hl, de
    ld a, h
    cp FLOOR
    jr c, .falling
    xor a                   ; speed_y = -speed_y
    sub e
    ld e, a
    ld a, 0
    sbc a, d
    ld d, a
    ld h, d                 ; hl = speed_y / 8
    ld l, e
    sra h
    rr l
    sra h
    rr l
    sra h
    rr l
    ld a, e
    sub l
    ld e, a
    ld a, d
    sbc a, h
    ld d, a
    cp -1
    jr c, .bounced          ; -2 and less: fast enough
    call random
    ld e, a
    and 1
    ld d, -3
    jr z, .bounced
    dec d
.bounced:
    ld h, b
    ld l, c
.falling:
    ld b, h
    ld c, l
    pop hl
    push hl
    inc l
    inc l
    ld a, c
    ld [hl+], a
    ld a, b
    ld [hl+], a
    inc l
    inc l
    ld a, e
    ld [hl+], a
    ld [hl], d
    pop hl
    ret

; Its sprite: the third and the following are sparks.
draw_spark:
    ld d, h
    ld e, l
    inc e
    ld a, l
    srl a                   ; 8 bytes of a spark are 4 of a sprite
    add a, 8
    ld l, a
    ld h, high(SPRITES)
    ld a, [de]
    inc e
    inc e
    add a, 8
    inc l
    ld [hl-], a
    ld a, [de]
    add a, 16
    ld [hl+], a
    inc l
    ld [hl], BRIGHT_TILE
    ld a, e
    cp 8 * DARK
    jr nc, .look
    ld [hl], DARK_TILE
.look:                      ; flipped by where it is: bits of y and x, swapped into place
    ld a, [de]
    swap a
    and 0b01100000
    inc l
    ld [hl], a
    ld h, d
    ld a, e
    sub 3
    ld l, a
    ret

; Does it touch the player?
touch:
    push hl
    inc l
    ld a, [hl+]
    inc l
    ld b, a                 ; x
    ld a, [hl]
    cp PLAYER_Y - 7
    jr c, .no
    ld a, [player]
    ld c, a
    ld a, b
    sub c
    add a, 5
    cp 16 + 2
    jr nc, .no
    ld a, 1
    ld [dirty], a
    ld a, l
    cp 8 * DARK
    jr c, .dark
    ld [hl], 16             ; up again, and at rest
    ld a, l
    add a, 4
    ld l, a
    ld [hl], 0
    dec l
    ld [hl], 0
    ld hl, score
    inc [hl]
    jr nz, .no
    inc hl
    inc [hl]
.no:
    pop hl
    ret
.dark:
    ld hl, safe
    ld a, [hl]
    or a
    jr nz, .no
    ld [hl], 60
    ld hl, lives
    dec [hl]
    call z, game_over
    pop hl
    ret

; A period of a sine of 6: the wind in 1/256 pixels a frame, each frame.
wind:
    db 0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 5, 4, 3, 2, 1
    db 0, -1, -2, -3, -4, -5, -6, -6, -6, -6, -6, -5, -4, -3, -2, -1
