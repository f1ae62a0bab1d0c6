// Quantities in their canonical form: no digits lost, no fraction, and the largest suffix. So a value that was written
// as "1000m" is stored as "1". Source: API reference, "Quantity".

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const NANO = 1_000_000_000n;
const FORM = /^([+-]?)(\d+|\d+\.\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/;

/** Null if the text is no quantity. */
export const canonicalQuantity = (text: string): string | null => {
  const parsed = parseNano(text);
  if (!parsed) return null;
  const { nano, form } = parsed;
  const sign = nano < 0n ? "-" : "";
  const amount = nano < 0n ? -nano : nano;
  if (amount === 0n) return "0";
  if (form === "binary" && amount % NANO === 0n && amount / NANO >= 1024n) {
    let whole = amount / NANO;
    let step = 0;
    while (whole % 1024n === 0n && step < BINARY.length - 1) {
      whole /= 1024n;
      step += 1;
    }
    return `${sign}${whole}${BINARY[step]}`;
  }
  let scaled = amount;
  let step = 0;
  while (scaled % 1000n === 0n && step < DECIMAL.length - 1) {
    scaled /= 1000n;
    step += 1;
  }
  if (form !== "exponent") return `${sign}${scaled}${DECIMAL[step]}`;
  const exponent = (step - 3) * 3;
  return `${sign}${scaled}${exponent === 0 ? "" : `e${exponent}`}`;
};

/** A quantity in billionths, to compare two. */
export const nanoOf = (text: string): bigint => parseNano(text)?.nano ?? 0n;

/** Throws for a text that is no quantity. */
export const quantity = (given: string | number): number => {
  const parsed = parseNano(String(given));
  if (parsed === null) throw new Error(`${given} is no quantity`);
  return Number(parsed.nano) / Number(NANO);
};

type Form = "binary" | "decimal" | "exponent";

const parseNano = (text: string): { nano: bigint; form: Form } | null => {
  const [, sign, digits = "", suffix = ""] = FORM.exec(text) ?? [];
  if (sign === undefined) return null;
  const [whole = "", fraction = ""] = digits.split(".");
  const mantissa = BigInt(`${whole}${fraction}` || "0");
  const divisor = 10n ** BigInt(fraction.length);
  const { factor, form } = factorOf(suffix);
  const product = mantissa * factor;
  // Digits below a billionth are rounded up.
  const nano = product / divisor + (product % divisor === 0n ? 0n : 1n);
  return { nano: sign === "-" ? -nano : nano, form };
};

const factorOf = (suffix: string): { factor: bigint; form: Form } => {
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { factor: NANO * 1024n ** BigInt(binary), form: "binary" };
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return { factor: 1000n ** BigInt(decimal), form: "decimal" };
  const exponent = Math.max(-9, Math.min(18, Number(suffix.slice(1))));
  return { factor: 10n ** BigInt(9 + exponent), form: "exponent" };
};
