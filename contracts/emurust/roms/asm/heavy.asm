; Heavy: start, frames, drawing. The sparks are in heavy_sparks.asm.

display = 0b10010011        ; LCD on, tiles at $8000, sprites and background
SPARKS = 32
DARK = 4                    ; the first sparks are dark
PLAYER_Y = 128
PLAYER_TILE = 0
BRIGHT_TILE = 1
DARK_TILE = 2
FLOOR_TILE = 3

pictures:
    pixels "   ##   "
    pixels "  #++#  "
    pixels " #+..+# "
    pixels "#+....+#"
    pixels "########"
    pixels "#+#++#+#"
    pixels " ##  ## "
    pixels " ##  ## "
    pixels "        "
    pixels "   .    "
    pixels "  .+.   "
    pixels " .+ +.  "
    pixels "  .+.   "
    pixels "   .    "
    pixels "        "
    pixels "        "
    pixels " #    # "
    pixels "  ####  "
    pixels " ###### "
    pixels " ##++## "
    pixels " ##++## "
    pixels " ###### "
    pixels "  ####  "
    pixels " #    # "
    pixels "########"
    pixels "+.+.+.+."
    pixels ".+.+.+.+"
    pixels "+.+.+.+."
    pixels ".+.+.+.+"
    pixels "+.+.+.+."
    pixels ".+.+.+.+"
    pixels "########"
pictures_end:
text:
    db "SCORE      LIVES"
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
    ld hl, MAP0 + 17 * 32
    ld bc, 20
    ld d, FLOOR_TILE
    jp fill

new_game:
    ld a, 5
    ld [lives], a
    ld a, low(3600)
    ld [left], a
    ld a, high(3600)
    ld [left + 1], a
    ld a, 72
    ld [player], a
    ld a, 1
    ld [dirty], a
    ld hl, sparks           ; x from 16 to 143, y from 16 to 79, at rest but for sideways
.spark:
    push hl
    call random
    and 127
    add a, 16
    ld b, a
    call random
    and 63
    add a, 16
    ld c, a
    call random
    ld d, a
    pop hl
    inc l
    ld [hl], b              ; x
    inc l
    inc l
    ld [hl], c              ; y
    inc l
    ld [hl], d              ; speed_x, less than a pixel a frame, with its sign
    inc l
    sla d
    sbc a, a
    ld [hl+], a
    inc l
    inc l
    ld a, l
    or a
    jr nz, .spark
    ret

frame:
    call copy_sprites
    ld a, [dirty]
    or a
    call nz, numbers
    ld hl, left             ; the time
    ld a, [hl]
    sub 1
    ld [hl+], a
    ld a, [hl]
    sbc a, 0
    ld [hl-], a
    or [hl]
    jp z, game_over
    ld hl, ticks
    inc [hl]
    ld hl, safe
    ld a, [hl]
    or a
    jr z, .keys
    dec [hl]
.keys:
    ld hl, player
    call keys
    bit LEFT_KEY, b
    jr z, .not_left
    ld a, [hl]
    sub 2
    jr nc, .moved
    xor a
    jr .moved
.not_left:
    bit RIGHT_KEY, b
    jr z, .still
    ld a, [hl]
    add a, 2
    cp 160 - 16
    jr c, .moved
    ld a, 160 - 16
.moved:
    ld [hl], a
.still:
    ld d, [hl]              ; two sprites show the player, not while it blinks
    ld a, [safe]
    and 4
    xor 4
    jr z, .blink
    ld a, PLAYER_Y + 16
.blink:
    ld hl, SPRITES
    ld b, 2
.half:
    ld [hl+], a
    ld c, a
    ld a, d
    add a, 8
    ld d, a
    ld [hl+], a
    ld a, PLAYER_TILE
    ld [hl+], a
    inc l
    ld a, c
    dec b
    jr nz, .half

    ld hl, sparks
.spark:
    call move_sideways
    call move_down
    call draw_spark
    call touch
    ld a, l                 ; the next one: they fill a page
    add a, 8
    ld l, a
    jr nz, .spark

    ; The film: sprites are copied to one of 8 pages.
    ld a, [ticks]
    and 7
    add a, high(film)
    ld h, a
    ld l, 0
    ld de, SPRITES
.film:
    ld a, [de]
    ld [hl+], a
    inc e
    ld a, e
    cp 160
    jr nz, .film
    ret

game_over:
    ld a, 1
    ld [over], a
    ; falls through
numbers:
    xor a
    ld [dirty], a
    ld hl, score
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld de, MAP0 + 7
    call print_word
    ld a, [lives]
    add a, '0'
    ld [MAP0 + 18], a
    ret
