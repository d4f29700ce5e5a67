interrupts = 0
wait:
    ldh a, [STAT]           ; mode 1 is the vertical blank
    and 3
    cp 1
    jr z, wait
.poll:
    ldh a, [STAT]
    and 3
    cp 1
    jr nz, .poll
    ret
vblank:
timer:
    reti
