// A page without a server has no language model, so no answer box.

export const answerBox = () => null;
export function closeAnswer() {}
