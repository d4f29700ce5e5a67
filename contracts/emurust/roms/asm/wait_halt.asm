interrupts = VBLANK_ON
wait:
    halt
    nop
    ret
vblank:
timer:
    reti
