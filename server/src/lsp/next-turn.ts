/** Lets messages that have arrived already be read first: an edit, or a request's cancellation. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
