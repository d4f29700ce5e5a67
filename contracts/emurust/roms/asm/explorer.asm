display = 0b11110011        ; LCD on, window from MAP1, tiles at $8000, sprites, background
GHOSTS = 4
STATUS_Y = 136
CENTER_X = 76               ; where the player stands on the screen
CENTER_Y = 64
PLAYER_TILE = 0
GHOST_TILE = 1
FLOOR_TILE = 2
WALL_TILE = 3
SEEN_TILE = 4

pictures:
    pixels " .####. "
    pixels ".#++++#."
    pixels "#+#++#+#"
    pixels "#++++++#"
    pixels "#+#++#+#"
    pixels "#++##++#"
    pixels ".#++++#."
    pixels " .####. "
    pixels "  ####  "
    pixels " #....# "
    pixels "#.#..#.#"
    pixels "#......#"
    pixels "#......#"
    pixels "#.#..#.#"
    pixels "##.##.##"
    pixels "#  ##  #"
    pixels "        "
    pixels "        "
    pixels "  .     "
    pixels "        "
    pixels "        "
    pixels "     .  "
    pixels "        "
    pixels "        "
    pixels "########"
    pixels "#++++++#"
    pixels "#+....+#"
    pixels "#+....+#"
    pixels "#+....+#"
    pixels "#+....+#"
    pixels "#++++++#"
    pixels "########"
    pixels "........"
    pixels ". . . . "
    pixels "........"
    pixels " . . . ."
    pixels "........"
    pixels ". . . . "
    pixels "........"
    pixels " . . . ."
pictures_end:
text:
    db "SEEN      LIVES"
text_end:

setup:
    ld hl, TILES
    ld de, pictures
    ld bc, pictures_end - pictures
    call copy
    ld hl, MAP1 + 1
    ld de, text
    ld bc, text_end - text
    call copy
    ld a, STATUS_Y
    ldh [WY], a
    ld a, 7                 ; the window's left edge is at WX - 7
    ldh [WX], a
    ret

; Begins in a vertical blank, so the LCD may be off while 1024 cells are drawn.
new_game:
    xor a
    ldh [LCDC], a
    call build
    ld a, 3
    ld [lives], a
    ld a, low(3600)
    ld [left], a
    ld a, high(3600)
    ld [left + 1], a
    ld a, 128
    ld [x], a
    ld [y], a
    ld hl, ghosts
    ld c, GHOSTS
.ghost:                     ; on an even cell, which is never a wall, away from the player
    push hl
    call random
    and $F0
    ld b, a
    call random
    and $70
    pop hl
    ld [hl], b
    inc hl
    ld [hl+], a
    inc hl
    inc hl
    dec c
    jr nz, .ghost
    call see
    call show
    ld a, display
    ldh [LCDC], a
    ret

; Pillars stand on cells with odd x and y. Half of them have a wall to their right or below.
build:
    ld de, $0101            ; d = x, e = y
.pillar:
    call place_wall
    call random
    and 3
    jr z, .right
    dec a
    jr nz, .next
    inc e
    call place_wall
    dec e
    jr .next
.right:
    inc d
    call place_wall
    dec d
.next:
    inc d
    inc d
    ld a, d
    cp 33
    jr c, .pillar
    ld d, 1
    inc e
    inc e
    ld a, e
    cp 33
    jr c, .pillar

    ld hl, MAP0             ; draw it
    ld de, world
.cell:
    ld a, [de]
    add a, FLOOR_TILE
    ld [hl+], a
    inc de
    ld a, h
    cp high(MAP0 + 1024)
    jr nz, .cell
    ret

; A wall on cell (d & 31, e & 31). Changes a, bc, hl.
place_wall:
    ld a, e
    and 31
    ld l, a
    ld h, 0
    add hl, hl
    add hl, hl
    add hl, hl
    add hl, hl
    add hl, hl
    ld a, d
    and 31
    or l
    ld l, a
    ld bc, world
    add hl, bc
    ld [hl], 1
    ret

; hl = number of the cell at pixel d, e: 32 y + x. Changes a.
cell:
    ld a, e
    and $F8
    ld l, a
    ld h, 0
    add hl, hl
    add hl, hl
    ld a, d
    rrca
    rrca
    rrca
    and 31
    or l
    ld l, a
    ret

; Z if the cell at pixel d, e is free. Changes a, hl.
is_free:
    call cell
    ld a, h
    add a, high(world)
    ld h, a
    ld a, [hl]
    or a
    ret

; Draws, in the vertical blank.
show:
    ld a, [x]
    sub CENTER_X
    ldh [SCX], a
    ld d, a
    ld a, [y]
    sub CENTER_Y
    ldh [SCY], a
    ld e, a
    ld hl, SPRITES
    ld [hl], CENTER_Y + 16
    inc hl
    ld [hl], CENTER_X + 8
    inc hl
    ld [hl], PLAYER_TILE
    inc hl
    inc hl
    ld bc, ghosts
.ghost:
    ld a, [bc]              ; x on the screen, cut off on either side
    inc bc
    sub d
    add a, 8
    cp 168
    inc hl
    ld [hl-], a
    ld a, [bc]
    jr nc, .hidden
    sub e
    add a, 16
    cp STATUS_Y + 16
    jr c, .placed
.hidden:
    xor a
.placed:
    ld [hl+], a
    inc bc
    inc bc
    inc bc
    inc hl
    ld [hl], GHOST_TILE
    inc hl
    inc hl
    ld a, l
    cp low(SPRITES + 4 * (GHOSTS + 1))
    jr nz, .ghost
    call copy_sprites
    ld hl, paint
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    or h
    jr z, .painted
    ld [hl], SEEN_TILE
    xor a
    ld [paint], a
    ld [paint + 1], a
.painted:
    ld a, [dirty]
    or a
    ret z
    xor a
    ld [dirty], a
    ld hl, seen
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld de, MAP1 + 6
    call print_word
    ld a, [lives]
    add a, '0'
    ld [MAP1 + 17], a
    ret
