import type { TypedFormat } from './formats.ts';

type Name = 'date-time' | 'date' | 'time' | 'duration';

/**
 * Values of `Temporal` for the formats of dates, which Node has from version 26 on. A `date-time`
 * keeps its instant, but not its offset. A `time` is converted to UTC.
 */
export const temporalFormats: Readonly<Record<Name, TypedFormat>> = {
  'date-time': {
    type: 'Temporal.Instant',
    parse: (text: string) => Temporal.Instant.from(text),
    stringify: String,
  },
  date: {
    type: 'Temporal.PlainDate',
    parse: (text: string) => Temporal.PlainDate.from(text),
    stringify: String,
  },
  time: {
    type: 'Temporal.PlainTime',
    parse: (text: string) =>
      Temporal.Instant.from(`1970-01-01T${text}`).toZonedDateTimeISO('UTC').toPlainTime(),
    stringify: (time: unknown) => `${time}Z`,
  },
  duration: {
    type: 'Temporal.Duration',
    // Durations of Temporal may have fractions, a sign, and weeks beside days.
    validate: isDuration,
    parse: (text: string) => Temporal.Duration.from(text),
    stringify: String,
  },
};

function isDuration(text: string): boolean {
  try {
    return Temporal.Duration.from(text) !== undefined;
  } catch {
    return false;
  }
}
