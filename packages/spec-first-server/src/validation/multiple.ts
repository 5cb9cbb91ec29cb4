/** A decimal number as an integer and a power of ten, exactly as ECMAScript writes it (ECMA-262 §6.1.6.1.20). */
function decimal(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * Whether a number is a multiple of another one in decimals, as people write both (JSON Schema 2020-12, Validation
 * §6.2.1). Their doubles are of no use: 19.99 / 0.01 is no integer.
 *
 * @param divisor above 0.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value)) return false;
  const [a, b] = [decimal(value), decimal(divisor)];
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent: own }: ReturnType<typeof decimal>) => digits * 10n ** BigInt(own - exponent);
  return scaled(a) % scaled(b) === 0n;
}
