// Requests to the server that this page came from, and to no other.

import { askForKey, currentKey } from "./key.js";

const PATIENCE = 3; // requests before a busy server is reported

/** An answer that is not the one wanted; its message is for people. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Whether an error only says that the page itself gave the request up. */
export const isAborted = (error) => error?.name === "AbortError";

/** The JSON of an address. */
export async function getJson(path, signal) {
  return (await request(path, { signal })).json();
}

/** The JSON that an address gives for this one. */
export async function postJson(path, value, signal) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(value);
  const response = await request(path, { method: "POST", headers, body, signal });
  return response.status === 202 ? null : response.json();
}

/** The events (text/event-stream) that an address gives for this JSON, one by one. */
export async function* postEvents(path, value, signal) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(value);
  const { body: stream } = await request(path, { method: "POST", headers, body, signal });
  let held = "";
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value: piece, done } = await reader.read();
    if (done) return;
    const events = (held + piece).split("\n\n");
    held = events.pop();
    for (const one of events) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(one) ?? [];
      if (event) yield { event, data: JSON.parse(data) };
    }
  }
}

/** A picture as a blob; an <img> could not bring the key along. */
export async function getBlob(path, signal) {
  return (await request(path, { signal })).blob();
}

/** Remove what has an address. */
export async function remove(path) {
  await request(path, { method: "DELETE" });
}

const request = (path, options) => answered(async (key) => {
  try {
    return await fetch(path, { ...options, headers: { ...options.headers, ...key }, credentials: "omit" });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError(0, "The server does not answer. Is it still running?");
  }
}, [429, 503], options.signal);

/** The answer to what is sent with the key: asked for once more with another key, and while the server is busy. */
async function answered(send, busy, signal) {
  for (let number = 1; ; number += 1) {
    const key = currentKey();
    const response = await send(key && { Authorization: `Bearer ${key}` });
    if (response.ok) return response;
    if (response.status === 401) {
      await askForKey(key);
      number = 0;
    } else if (busy.includes(response.status) && number < PATIENCE) {
      await pause(response.headers.get("Retry-After"), signal);
    } else {
      throw new ApiError(response.status, messageOf(await response.text(), response.status));
    }
  }
}

function messageOf(body, status) {
  try {
    return JSON.parse(body).error.message;
  } catch { // of nobody, or of a proxy, which has limits of its own
    if (status === 0) return "The upload broke off. Is the server still running?";
    if (status === 413) return "it is larger than a proxy before the server lets through";
    return `The server answered with status ${status}.`;
  }
}

function pause(seconds, signal) {
  const wait = 1000 * Math.min(10, Number(seconds) || 1);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, wait);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/**
 * Send a file. `fetch` cannot say how far an upload is; XMLHttpRequest can.
 *
 * @param {File} file
 * @param {(fraction: number) => void} onProgress
 * @param {AbortSignal} signal
 */
export function upload(file, onProgress, signal) {
  // Sent again, a file takes the place of itself.
  return answered((key) => sent(file, key, onProgress, signal), [0, 429, 503], signal);
}

function sent(file, key, onProgress, signal) {
  const form = new FormData();
  form.append("file", file, file.name);
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", "documents");
    for (const [name, value] of Object.entries(key)) sending.setRequestHeader(name, value);
    sending.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    sending.addEventListener("loadend", () => {
      const { status, responseText } = sending;
      const headers = { get: (name) => sending.getResponseHeader(name) };
      if (signal.aborted) reject(signal.reason);
      else resolve({ ok: status === 202, status, headers, text: () => responseText });
    });
    signal.addEventListener("abort", () => sending.abort());
    sending.send(form);
  });
}
