interrupts = VBLANK_ON
wait:
    xor a
    ld [flag], a
.poll:
    ld a, [flag]
    or a
    jr z, .poll
    ret
vblank:
    push af
    ld a, 1
    ld [flag], a
    pop af
timer:
    reti
