interrupts = 0
wait:
    ldh a, [LY]             ; a frame may be done within the line that it began in
    cp 144
    jr z, wait
.poll:
    ldh a, [LY]
    cp 144
    jr nz, .poll
    ret
vblank:
timer:
    reti
