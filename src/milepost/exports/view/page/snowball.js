// What the stemmers of Snowball stand on: a word, places in it, and searches in sorted endings;
// basestemmer.py of the package snowballstemmer in JavaScript, with its names.

/*
Copyright (c) 2001, Dr Martin Porter
Copyright (c) 2004,2005, Richard Boulton
Copyright (c) 2013, Yoshiki Shibukawa
Copyright (c) 2006-2025, Olly Betts
All rights reserved.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions
are met:

  1. Redistributions of source code must retain the above copyright notice,
     this list of conditions and the following disclaimer.
  2. Redistributions in binary form must reproduce the above copyright notice,
     this list of conditions and the following disclaimer in the documentation
     and/or other materials provided with the distribution.
  3. Neither the name of the Snowball project nor the names of its contributors
     may be used to endorse or promote products derived from this software
     without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND
ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR
ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
(INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON
ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
*/

import { leading } from "./points.js";

/** A stemmer: `_stem` works on `current`, an array of characters. */
export class BaseStemmer {
  stem(word) {
    this.current = [...word];
    this.cursor = 0;
    this.limit = this.current.length;
    this.limit_backward = 0;
    this.bra = 0;
    this.ket = this.limit;
    this._stem();
    return this.current.join("");
  }

  in_grouping(group) {
    if (this.cursor >= this.limit || !group.has(this.current[this.cursor])) return false;
    this.cursor += 1;
    return true;
  }

  in_grouping_b(group) {
    if (this.cursor <= this.limit_backward || !group.has(this.current[this.cursor - 1])) return false;
    this.cursor -= 1;
    return true;
  }

  out_grouping_b(group) {
    if (this.cursor <= this.limit_backward || group.has(this.current[this.cursor - 1])) return false;
    this.cursor -= 1;
    return true;
  }

  go_in_grouping(group) {
    while (this.cursor < this.limit && group.has(this.current[this.cursor])) this.cursor += 1;
    return this.cursor < this.limit;
  }

  go_out_grouping(group) {
    while (this.cursor < this.limit && !group.has(this.current[this.cursor])) this.cursor += 1;
    return this.cursor < this.limit;
  }

  go_out_grouping_b(group) {
    while (this.cursor > this.limit_backward && !group.has(this.current[this.cursor - 1])) this.cursor -= 1;
    return this.cursor > this.limit_backward;
  }

  eq_s_b(text) {
    const start = this.cursor - text.length;
    if (start < this.limit_backward) return false;
    for (let at = 0; at < text.length; at += 1) if (this.current[start + at] !== text[at]) return false;
    this.cursor = start;
    return true;
  }

  find_among(entries) {
    return this.among(entries, 1, this.limit - this.cursor);
  }

  find_among_b(entries) {
    return this.among(entries, -1, this.cursor - this.limit_backward);
  }

  /**
   * The result of the longest entry that the word goes on with, or 0.
   *
   * @param {Array} entries text, number of the longest other entry that it begins with or -1, result
   *   and name of a test, in the order of their texts
   * @param {number} step 1 onwards, -1 backwards: texts are compared from their ends then
   * @param {number} room letters between the cursor and the limit
   */
  among(entries, step, room) {
    const start = this.cursor;
    const compared = (text) => {
      for (let at = 0; at < text.length; at += 1) {
        if (at === room) return -1;
        const [here, there] = step > 0 ? [start + at, at] : [start - 1 - at, text.length - 1 - at];
        const difference = this.current[here].codePointAt(0) - text.charCodeAt(there);
        if (difference) return difference;
      }
      return 0;
    };
    // From the last entry that does not stand behind what is here.
    let found = leading(entries.length, (at) => compared(entries[at][0]) >= 0) - 1;
    for (; found >= 0; found = entries[found][1]) {
      const [text, , result, test] = entries[found];
      if (compared(text) === 0) {
        this.cursor = start + step * text.length;
        if (!test) return result;
        if (this[test]()) {
          this.cursor = start + step * text.length;
          return result;
        }
      }
    }
    return 0;
  }

  replace_s(from, to, text) {
    const more = text.length - (to - from);
    this.current.splice(from, to - from, ...text);
    this.limit += more;
    if (this.cursor >= to) this.cursor += more;
    else if (this.cursor > from) this.cursor = from;
    return more;
  }

  slice_from(text) {
    this.replace_s(this.bra, this.ket, text);
    this.ket = this.bra + text.length;
  }

  slice_del() {
    this.slice_from("");
  }

  insert(from, to, text) {
    const more = this.replace_s(from, to, text);
    if (from <= this.bra) this.bra += more;
    if (from <= this.ket) this.ket += more;
  }
}
