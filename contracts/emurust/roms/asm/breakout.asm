; Breakout: start, frames, drawing. The ball is in breakout_ball.asm, banks in breakout_levels.asm.

interrupts = VBLANK_ON | TIMER_ON
display = 0b10010011        ; LCD on, tiles at $8000, sprites and background
ROM_BANK = $2000            ; writing a number here shows that bank at $4000
PADDLE_Y = 136
PADDLE_WIDTH = 24
PADDLE_SPEED = 3
TOP = 16                    ; the status line lies above
BRICK_ROW = 4               ; first row of the map that has bricks
BALL_TILE = 0
PADDLE_TILE = 1
BRICK_TILE = 2              ; two tiles for a brick of one hit, two for a brick of two
BRICKS_MAP = MAP0 + 32 * BRICK_ROW
IN_PLAY = 0
BALL_LOST = 1
LEVEL_DONE = 2

pictures:
    pixels "  ####  "
    pixels " #++++# "
    pixels "#+..+++#"
    pixels "#+.++++#"
    pixels "#++++++#"
    pixels "#++++++#"
    pixels " #++++# "
    pixels "  ####  "
    pixels "########"
    pixels "++++++++"
    pixels "........"
    pixels "########"
    pixels " ###### "
    pixels "        "
    pixels "        "
    pixels "        "
pictures_end:
text:
    db "SCORE      L   V"
text_end:

setup:
    ld hl, TILES
    ld de, pictures
    ld bc, pictures_end - pictures
    call copy
    ld hl, MAP0 + 1
    ld de, text
    ld bc, text_end - text
    call copy
    ld hl, OAM + 4          ; sprite 0 is the ball, 1 to 3 are the paddle
    ld b, 3
.paddle:
    ld [hl], PADDLE_Y + 16
    inc hl
    inc hl
    ld [hl], PADDLE_TILE
    inc hl
    inc hl
    dec b
    jr nz, .paddle
    ld a, LEVEL_DONE        ; holds the ball until the first level is there
    ld [event], a
    ret

wait:
    halt
    nop
    ld a, [frame_begins]    ; the timer wakes it too
    or a
    jr z, wait
    xor a
    ld [frame_begins], a
    ret

vblank:
    push af
    ld a, 1
    ld [frame_begins], a
    pop af
    reti

new_game:
    ld a, 3
    ld [lives], a
    ld a, 68
    ld [paddle], a
    jp load_level

frame:
    ld a, [event]           ; in the vertical blank still: a new level switches the LCD off
    cp LEVEL_DONE
    jr nz, .same_level
    ld hl, level
    inc [hl]
    jp load_level
.same_level:
    cp BALL_LOST
    jr nz, .draw
    ld hl, lives
    dec [hl]
    jr z, .game_over
    call serve
    jr .draw
.game_over:
    ld a, 1
    ld [over], a
    xor a
    ldh [TAC], a
.draw:
    call show
    call keys
    ld hl, paddle
    bit LEFT_KEY, b
    jr z, .not_left
    ld a, [hl]
    sub PADDLE_SPEED
    jr nc, .moved
    xor a
    jr .moved
.not_left:
    bit RIGHT_KEY, b
    ret z
    ld a, [hl]
    add a, PADDLE_SPEED
    cp 160 - PADDLE_WIDTH
    jr c, .moved
    ld a, 160 - PADDLE_WIDTH
.moved:
    ld [hl], a
    ret

; Shows the level's bank and draws the level. Begins in a vertical blank.
load_level:
    ld a, [level]
.modulo:
    sub 3
    jr nc, .modulo
    add a, 4                ; 1, 2, 3, 1, ...
    ld [bank], a
    ld [ROM_BANK], a
    xor a
    ldh [LCDC], a
    ldh [TAC], a
    ld [painted], a
    ld a, [level_palette]
    ldh [BGP], a
    ld hl, TILES + 16 * BRICK_TILE
    ld de, level_tiles
    ld bc, 64
    call copy
    ld hl, bricks
    ld de, level_bricks
    ld bc, 96
    call copy
    ld hl, bricks           ; count and draw
    ld d, 0
.brick:
    ld a, [hl]
    or a
    jr z, .gone
    inc d
.gone:
    push hl
    call draw_brick
    pop hl
    inc l
    ld a, l
    cp low(bricks) + 96
    jr nz, .brick
    ld a, d
    ld [bricks_left], a
    call serve
    call show
    ld a, [level_speed]
    ldh [TMA], a
    ldh [TIMA], a
    ld a, 0b100             ; 4096 counts a second
    ldh [TAC], a
    ld a, display
    ldh [LCDC], a
    ret

; A new ball on the paddle. Changes a, hl.
serve:
    ld a, 1
    ld [dirty], a
    ld a, [paddle]
    add a, 8
    ld [ball_x], a
    ld a, PADDLE_Y - 16
    ld [ball_y], a
    call random
    and 3
    call speed
    ld a, -1
    ld [speed_y], a
    xor a                   ; last: from here on the interrupt moves the ball
    ld [event], a
    ret

; Draws brick l of `bricks`. Changes a, bc, hl.
draw_brick:
    ld a, l
    and 15
    cp 10
    ret nc                  ; the last 6 of a row are not on the screen
    ld h, high(bricks)
    ld a, [hl]
    ld h, 0
    add hl, hl              ; a row is 16 bricks and 32 cells of the map
    ld bc, BRICKS_MAP
    add hl, bc
    or a
    jr z, .empty
    add a, a                ; 1 or 2 hits: the first or the second two of the four tiles
    add a, BRICK_TILE - 2
    ld [hl+], a
    inc a
    ld [hl], a
    ret
.empty:
    ld a, ' '
    ld [hl+], a
    ld [hl], a
    ret

; Draws what changed, in the vertical blank.
show:
    ld hl, OAM
    ld a, [ball_y]
    add a, 16
    ld [hl+], a
    ld a, [ball_x]
    ld c, 8
    add a, c
    ld [hl], a
    ld a, [paddle]
    add a, c
    ld [OAM + 5], a
    add a, c
    ld [OAM + 9], a
    add a, c
    ld [OAM + 13], a
.paint:
    ld hl, painted
    ld a, [hl]
    or a
    jr z, .numbers
    di                      ; the interrupt adds to the list
    dec [hl]
    add a, low(paint) - 1
    ld l, a
    ld h, high(paint)
    ld l, [hl]
    ei
    call draw_brick
    jr .paint
.numbers:
    ld hl, dirty
    ld a, [hl]
    or a
    ret z
    ld [hl], 0
    ld hl, score
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld de, MAP0 + 7
    call print_word
    ld a, [lives]
    add a, '0'
    ld [MAP0 + 14], a
    ld de, MAP0 + 17
    ld a, [level]
    inc a
    jp print_byte
