org $40
    jp vblank
org $50
    jp timer
org $100
    nop
    jp start

org $150
start:
    di
    ld sp, STACK
.blank:                     ; the LCD may be switched off in the vertical blank only
    ldh a, [LY]
    cp 144
    jr nz, .blank
    xor a
    ldh [LCDC], a
    ldh [IF], a
    ld a, interrupts
    ldh [IE], a
    ld a, 0b11100100        ; shades in their natural order
    ldh [BGP], a
    ldh [OBP0], a
    ldh [OBP1], a
    ; All variables become zero but the seed: whoever pokes it may do so at any time before the
    ; game begins.
    ld hl, SPRITES
    ld bc, prng - SPRITES
    ld d, 0
    call fill
    ld hl, prng + 2
    ld bc, $C800 - (prng + 2)
    call fill
    ld hl, OAM
    ld bc, 160
    call fill
    ld hl, MAP0
    ld bc, 2 * 1024
    ld d, ' '
    call fill
    ld hl, TILES + ' ' * 16
    ld de, font
    ld bc, font_end - font
.glyph:                     ; the font has one byte for a row, tiles have two: all ink is colour 3
    ld a, [de]
    inc de
    ld [hl+], a
    ld [hl+], a
    dec bc
    ld a, b
    or c
    jr nz, .glyph
    ld hl, HRAM_CODE
    ld de, sprite_copier
    ld bc, sprite_copier_end - sprite_copier
    call copy
    call setup
    ld a, display
    ldh [LCDC], a
    ei
    ld b, 3                 ; a few frames of quiet, in which the seed may be poked
.quiet:
    call wait
    dec b
    jr nz, .quiet
    ld hl, prng
    ld a, [hl+]
    or [hl]
    jr nz, .seeded
    ld [hl], $1D            ; the generator's only fixed point is 0
    dec hl
    ld [hl], $2B
.seeded:
    call random             ; seeds that lie close give first numbers that lie close
    call random
    call wait               ; so that how long this took makes no difference
    call new_game
    ld a, 1
    ld [playing], a
main:
    call wait
    ld a, [over]
    or a
    jr nz, main
    call frame
    jr main
