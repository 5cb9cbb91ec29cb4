/** Shows how far a long run is. */
export interface Progress {
  /** Replaces the last step. */
  step(text: string): void;
  /** Clears the line. */
  end(): void;
}

/** On a terminal, one line that changes; elsewhere one line per step. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) {
    return { step: (text) => void stream.write(`${text}\n`), end: () => {} };
  }
  return {
    step: (text) => void stream.write(`\r\x1b[2K${text.slice(0, (stream.columns || 80) - 1)}`),
    end: () => void stream.write('\r\x1b[2K'),
  };
}
