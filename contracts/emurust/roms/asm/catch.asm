display = 0b10010011        ; LCD on, tiles at $8000, sprites and background
PADDLE_Y = 136
BALL_BOTTOM = PADDLE_Y - 8
PADDLE_WIDTH = 32

pictures:
    pixels "  .##.  "
    pixels " .++##. "
    pixels ".+..+##."
    pixels "#+..+###"
    pixels "##++####"
    pixels ".######."
    pixels " .####. "
    pixels "  .##.  "
    pixels "########"
    pixels "#++++++#"
    pixels "#......#"
    pixels "########"
    pixels "        "
    pixels "        "
    pixels "        "
    pixels "        "
pictures_end:

setup:
    ld hl, TILES
    ld de, pictures
    ld bc, pictures_end - pictures
    call copy
    ld hl, MAP0 + 1
    ld de, text
    ld bc, text_end - text
    call copy
    ld hl, OAM + 4          ; sprite 0 is the ball, 1 to 4 are the paddle
    ld b, 4
.paddle:
    ld [hl], PADDLE_Y + 16
    inc hl
    inc hl
    ld [hl], 1
    inc hl
    inc hl
    dec b
    jr nz, .paddle
    ret
text:
    db "SCORE      LIVES"
text_end:

new_game:
    ld a, 5
    ld [lives], a
    ld a, 64
    ld [paddle], a
drop:                       ; a new ball
    ld a, 1
    ld [dirty], a
    ld a, 16
    ld [ball_y], a
    call random
    and 127
    add a, 12
    ld [ball_x], a
    call random
    and 3
    dec a
    ld [drift], a
    ret

frame:
    ; Draw first: the vertical blank lasts 4560 cycles.
    ld hl, OAM
    ld a, [ball_y]
    add a, 16
    ld [hl+], a
    ld a, [ball_x]
    add a, 8
    ld [hl], a
    ld a, [paddle]
    ld c, 8
    add a, c
    ld [OAM + 5], a
    add a, c
    ld [OAM + 9], a
    add a, c
    ld [OAM + 13], a
    add a, c
    ld [OAM + 17], a
    ld a, [dirty]
    or a
    call nz, numbers

    ld hl, ticks
    inc [hl]
    ld a, [hl]
    and 1
    inc a
    ld c, a                 ; c = pixels to go in this frame, 1 and 2 in turn

    ld hl, paddle
    call keys
    bit LEFT_KEY, b
    jr z, .not_left
    ld a, [hl]
    sub c
    jr nc, .paddle_moved
    xor a
    jr .paddle_moved
.not_left:
    bit RIGHT_KEY, b
    jr z, .ball
    ld a, [hl]
    add a, c
    cp 160 - PADDLE_WIDTH
    jr c, .paddle_moved
    ld a, 160 - PADDLE_WIDTH
.paddle_moved:
    ld [hl], a

.ball:
    bit 0, c                ; sideways in every second frame
    jr z, .down
    ld a, [drift]
    ld b, a
    ld a, [ball_x]
    add a, b
    cp 153
    jr nc, .wall
    ld [ball_x], a
    jr .down
.wall:
    xor a
    sub b
    ld [drift], a
.down:
    ld hl, ball_y
    ld a, [hl]
    add a, c
    ld [hl], a
    cp BALL_BOTTOM
    ret c

    ld hl, paddle           ; caught if they overlap by a pixel
    ld a, [ball_x]
    add a, 7
    sub [hl]
    cp PADDLE_WIDTH + 7
    jr nc, .missed
    ld hl, score
    inc [hl]
    jp drop
.missed:
    ld hl, lives
    dec [hl]
    jp nz, drop
    ld a, 1
    ld [over], a

numbers:
    xor a
    ld [dirty], a
    ld de, MAP0 + 7
    ld a, [score]
    call print_byte
    ld de, MAP0 + 18
    ld a, [lives]
    add a, '0'
    ld [de], a
    ret
