/** Shows the current step: on a terminal in one line that changes, elsewhere in a line of its own. */
export function show(step: string): void {
  const { isTTY, columns } = process.stderr;
  process.stderr.write(isTTY ? `\r\x1b[2K${step.slice(0, (columns || 80) - 1)}` : `${step}\n`);
}

/** Clears the line on a terminal. */
export function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
}
