; Breakout's ball: one step for each interrupt of the timer.

timer:
    push af
    push bc
    push de
    push hl
    ld a, [event]
    or a
    call z, step
    pop hl
    pop de
    pop bc
    pop af
    reti

; One step, sideways and then down or up. A brick turns the ball and is hit.
step:
    ld a, [speed_x]
    ld c, a
    ld a, [ball_x]
    add a, c
    cp 153
    jr nc, .turn_x          ; 153 to 255: beyond either wall
    ld d, a
    ld a, [ball_y]
    ld e, a
    call brick_at
    jr nz, .brick_x
    ld a, d
    ld [ball_x], a
    jr .down
.brick_x:
    call hit
.turn_x:
    xor a
    sub c
    ld [speed_x], a

.down:
    ld a, [ball_x]
    ld d, a
    ld a, [speed_y]
    ld c, a
    ld a, [ball_y]
    add a, c
    cp TOP
    jr c, .turn_y
    cp PADDLE_Y - 7         ; the first step that would enter the paddle
    jr z, .paddle
    cp 144
    jr nc, .lost
.free:
    ld e, a
    call brick_at
    jr nz, .brick_y
    ld a, e
    ld [ball_y], a
    ret
.brick_y:
    call hit
.turn_y:
    xor a
    sub c
    ld [speed_y], a
    ret
.lost:
    ld [ball_y], a
    ld a, BALL_LOST
    ld [event], a
    ret

.paddle:
    ld b, a
    bit 7, c                ; on its way up it does not meet the paddle
    jr nz, .no_paddle
    ld hl, paddle
    ld a, d
    add a, 7
    sub [hl]
    cp PADDLE_WIDTH + 8     ; how far right on the paddle, 0 to 31; a larger number is beside it
    jr nc, .no_paddle
    srl a
    srl a
    srl a
    call speed
    jr .turn_y
.no_paddle:
    ld a, b
    jr .free

; Sets speed_x to -2, -1, 1, 2 for a = 0, 1, 2, 3. Changes a.
speed:
    cp 2
    jr nc, .right
    sub 3
.right:
    inc a                   ; 0, 1 became -2, -1 and 2, 3 become 3, 4
    bit 7, a
    jr nz, .known
    sub 2
.known:
    ld [speed_x], a
    ret

; NZ if the middle of a ball at d, e lies in a brick; hl is the brick. Changes a, b.
brick_at:
    ld a, e                 ; rows of 8 pixels
    add a, 4
    srl a
    srl a
    srl a
    sub BRICK_ROW
    cp 6
    jr nc, .none
    swap a
    ld b, a
    ld a, d                 ; columns of 16
    add a, 4
    swap a
    and 15
    or b
    ld l, a
    ld h, high(bricks)
    ld a, [hl]
    or a
    ret
.none:
    xor a
    ret

; The brick at hl takes a hit. Changes a, b, hl.
hit:
    push de
    push hl
    ld b, l
    call level_points       ; runs in the level's bank
    ld hl, score
    add a, [hl]
    ld [hl+], a
    jr nc, .scored
    inc [hl]
.scored:
    pop hl
    ld a, l
    dec [hl]
    jr nz, .stays
    ld hl, bricks_left
    dec [hl]
    jr nz, .stays
    ld d, a
    ld a, LEVEL_DONE
    ld [event], a
    ld a, d
.stays:
    ld hl, painted          ; a frame has at most three steps of two hits
    ld d, [hl]
    inc [hl]
    ld hl, paint
    ld e, a
    ld a, l
    add a, d
    ld l, a
    ld [hl], e
    ld a, 1
    ld [dirty], a
    pop de
    ret
