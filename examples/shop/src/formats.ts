import { isIban } from './iban.ts';

/** The formats of the document that OpenAPI does not have. `npm run generate` reads them, too. */
export const formats = { iban: isIban };
