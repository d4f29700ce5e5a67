'use strict';
/*
 * The bridge inside a Python process. Python's inputs are written into memory that JavaScript
 * owns: memory of Python's own would be given back by the collector's helper threads, which do not
 * hold Python's lock (BufferType.cc of PythonMonkey), and the process would crash now and then.
 */

const { open } = require('./serve.js');

/** handle('inbox', '', n) returns n integers to write to; the next other operation reads them. */
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
