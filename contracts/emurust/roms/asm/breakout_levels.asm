; Breakout's levels, one to a bank. All banks have the same things at the same places.

level_number = $4000        ; the bank's own number
level_speed = $4001         ; TMA: the timer counts from here to 256 between two steps
level_palette = $4002
level_tiles = $4010         ; four tiles: a brick of one hit, a brick of two
level_bricks = $4050        ; 6 rows of 16, the last 6 of each row unused
level_points = $40B0        ; routine: a = points for brick b. May change b and hl

bank 1
    db 1, -43, 0b11100100
org level_tiles
    pixels "########"
    pixels "#......."
    pixels "#......."
    pixels "#......."
    pixels "#......."
    pixels "#......."
    pixels "########"
    pixels "        "
    pixels "########"
    pixels ".......#"
    pixels ".......#"
    pixels ".......#"
    pixels ".......#"
    pixels ".......#"
    pixels "########"
    pixels "        "
    pixels "########"
    pixels "#+++++++"
    pixels "#+++++++"
    pixels "#+++++++"
    pixels "#+++++++"
    pixels "#+++++++"
    pixels "########"
    pixels "        "
    pixels "########"
    pixels "+++++++#"
    pixels "+++++++#"
    pixels "+++++++#"
    pixels "+++++++#"
    pixels "+++++++#"
    pixels "########"
    pixels "        "
org level_bricks
    db 0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0
    db 1,1,1,1,1,1,1,1,1,1, 0,0,0,0,0,0
    db 1,1,1,1,1,1,1,1,1,1, 0,0,0,0,0,0
    db 1,1,1,1,1,1,1,1,1,1, 0,0,0,0,0,0
    db 0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0
    db 0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0
org level_points            ; one point each
    ld a, 1
    ret

bank 2
    db 2, -39, 0b11010000
org level_tiles
    pixels "########"
    pixels "#.#.#.#."
    pixels "##.#.#.#"
    pixels "#.#.#.#."
    pixels "##.#.#.#"
    pixels "#.#.#.#."
    pixels "########"
    pixels "        "
    pixels "########"
    pixels "#.#.#.##"
    pixels ".#.#.#.#"
    pixels "#.#.#.##"
    pixels ".#.#.#.#"
    pixels "#.#.#.##"
    pixels "########"
    pixels "        "
    pixels "########"
    pixels "#+#+#+#+"
    pixels "##+#+#+#"
    pixels "#+#+#+#+"
    pixels "##+#+#+#"
    pixels "#+#+#+#+"
    pixels "########"
    pixels "        "
    pixels "########"
    pixels "#+#+#+##"
    pixels "+#+#+#+#"
    pixels "#+#+#+##"
    pixels "+#+#+#+#"
    pixels "#+#+#+##"
    pixels "########"
    pixels "        "
org level_bricks
    db 2,0,2,0,2,2,0,2,0,2, 0,0,0,0,0,0
    db 0,1,0,1,0,0,1,0,1,0, 0,0,0,0,0,0
    db 1,0,1,0,1,1,0,1,0,1, 0,0,0,0,0,0
    db 0,1,0,1,0,0,1,0,1,0, 0,0,0,0,0,0
    db 1,0,1,0,1,1,0,1,0,1, 0,0,0,0,0,0
    db 0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0
org level_points            ; more for the rows above: 5 for the first, 1 for the fifth
    ld a, b
    swap a
    and 15
    ld b, a
    ld a, 5
    sub b
    ret

bank 3
    db 3, -35, 0b11111001
org level_tiles
    pixels "++++++++"
    pixels "+      +"
    pixels "+ #### +"
    pixels "+ #### +"
    pixels "+ #### +"
    pixels "+      +"
    pixels "++++++++"
    pixels "        "
    pixels "++++++++"
    pixels "+      +"
    pixels "+ #### +"
    pixels "+ #### +"
    pixels "+ #### +"
    pixels "+      +"
    pixels "++++++++"
    pixels "        "
    pixels "########"
    pixels "# #### #"
    pixels "########"
    pixels "## ## ##"
    pixels "########"
    pixels "# #### #"
    pixels "########"
    pixels "        "
    pixels "########"
    pixels "# #### #"
    pixels "########"
    pixels "## ## ##"
    pixels "########"
    pixels "# #### #"
    pixels "########"
    pixels "        "
org level_bricks
    db 1,1,1,1,1,1,1,1,1,1, 0,0,0,0,0,0
    db 1,0,0,0,0,0,0,0,0,1, 0,0,0,0,0,0
    db 1,0,2,2,0,0,2,2,0,1, 0,0,0,0,0,0
    db 1,0,2,2,0,0,2,2,0,1, 0,0,0,0,0,0
    db 1,0,0,0,0,0,0,0,0,1, 0,0,0,0,0,0
    db 1,1,1,0,0,0,0,1,1,1, 0,0,0,0,0,0
org level_points            ; 2, and 1 more in every second column
    ld a, b
    and 1
    add a, 2
    ret
