'use strict';
/*
 * The bridge under node: requests on standard input, answers on standard output. A request is three
 * little-endian u32 (bytes of the operation, of the text, of the integers), then these; an answer is
 * a u32 kind (0 integers, 1 text, 2 error) and a u32 length in bytes, then the bytes.
 */

const fs = require('fs');
const serve = require('./serve.js');

const handle = serve.open(process.argv[2]);

function read(bytes) {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at < bytes;) {
    const got = fs.readSync(0, buffer, at, bytes - at, null);
    if (!got) process.exit(0);
    at += got;
  }
  return buffer;
}

function write(buffer) {
  for (let at = 0; at < buffer.length;) at += fs.writeSync(1, buffer, at);
}

for (;;) {
  const head = read(12);
  const operation = read(head.readUInt32LE(0)).toString();
  const text = read(head.readUInt32LE(4)).toString();
  const body = read(head.readUInt32LE(8));
  const ints = new Int32Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
  let kind = 0;
  let answer;
  try {
    const result = handle(operation, text, ints);
    kind = typeof result === 'string' ? 1 : 0;
    answer = kind ? Buffer.from(result) : Buffer.from(result.buffer);
  } catch (error) {
    kind = 2;
    answer = Buffer.from(String((error && error.stack) || error));
  }
  const reply = Buffer.alloc(8);
  reply.writeUInt32LE(kind, 0);
  reply.writeUInt32LE(answer.length, 4);
  write(reply);
  write(answer);
}
