import { readForm, writeForm } from '../parameters/forms.ts';
import { type Code, type TextCoder, UnreadableBody } from './codec.ts';

/** Forms without files (https://url.spec.whatwg.org/#application/x-www-form-urlencoded). */
export const urlencoded: Code<TextCoder> = {
  read(body, format, budget) {
    try {
      return readForm(format, body, budget);
    } catch (error) {
      if (error instanceof URIError) throw new UnreadableBody('must be percent-encoded UTF-8');
      throw error;
    }
  },
  write: (fields, { encoding }) => writeForm(Object(fields), encoding),
};
