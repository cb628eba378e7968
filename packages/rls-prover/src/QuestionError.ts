/** A question in which a name means nothing, or whose assumptions contradict each other. */
export class QuestionError extends Error {
  override name = 'QuestionError';
}
