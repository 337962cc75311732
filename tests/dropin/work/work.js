// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

const { Worker } = require("worker_threads");
const zlib = require("zlib");

const kept = new Map();
for (let i = 0; i < 300_000; i++) kept.set(i, { name: "entry " + i, list: [i] });
const buffers = [];
for (let i = 0; i < 200; i++) buffers.push(Buffer.alloc(100_000 + i, i));
const packed = zlib.gzipSync(Buffer.concat(buffers));
if (zlib.gunzipSync(packed).length !== 200 * 100_000 + 199 * 100) throw new Error("differs");

const work = "const a = []; for (let i = 0; i < 1e5; i++) a.push({ i, t: 't' + i });" +
    "require('worker_threads').parentPort.postMessage(a.length);";
let ended = 0;
for (let i = 0; i < 4; i++) {
    new Worker(work, { eval: true }).on("exit", () => {
        if (++ended === 4) console.log(`${buffers.length} buffers, ${kept.size} entries, ${ended} workers`);
    });
}
