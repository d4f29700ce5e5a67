'use strict';
/*
 * The bridge inside a Python process. What Python hands over is written into memory that JavaScript
 * owns: memory of Python's own would be given back by the collector's helper threads, which do not
 * hold Python's lock (BufferType.cc of PythonMonkey), and the process crashes now and then.
 */

const { open } = require('./serve.js');

/** handle('inbox', '', n) gives n integers to write to; any other operation then reads them. */
function openInside(folder) {
  const handle = open(folder);
  const empty = new Int32Array(0);
  let inbox = empty;
  return (operation, text, length) => {
    if (operation !== 'inbox') return handle(operation, text, length ? inbox : empty);
    inbox = new Int32Array(length);
    return inbox;
  };
}

module.exports = { openInside };
