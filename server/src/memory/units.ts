/** Sizes as people write and read them. Bytes inside; MiB and GiB (1024-based) outside. */

const binary: Readonly<Record<string, number>> = {
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};
const decimal: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };

/**
 * Bytes of `6.5GiB`, `6656 MiB`, `8GB` (decimal: 8,000,000,000) or `512B`; rounded to whole bytes. `undefined` for
 * anything else, a bare number included.
 */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?i?b)$/i.exec(text.trim());
  if (match === null) return undefined;
  const unit = (match[2] ?? "").toLowerCase();
  const factor = binary[unit] ?? decimal[unit];
  return factor === undefined ? undefined : Math.round(Number(match[1]) * factor);
}

/** True when the size was written in decimal units (`GB`): an answer about it says what it is in GiB. */
export function isDecimalSize(text: string): boolean {
  return /\d\s*[kmgt]b$/i.test(text.trim());
}

const steps: readonly (readonly [unit: string, bytes: number, decimals: number])[] = [
  ["KiB", 1024, 1],
  ["MiB", 1024 ** 2, 1],
  ["GiB", 1024 ** 3, 2],
  ["TiB", 1024 ** 4, 2],
];

/** `512 B`, `1.5 KiB`, `305.2 MiB`, `5.38 GiB`; never a figure of 1024 or more before the unit, up to TiB. */
export function formatBytes(bytes: number): string {
  let shown = `${Math.round(bytes)} B`;
  for (const [unit, size, decimals] of steps) {
    const previous = size / 1024;
    if (
      Math.abs(roundTo(bytes / previous, unit === "KiB" ? 0 : unit === "GiB" || unit === "MiB" ? 1 : 2)) <
      1024
    )
      break;
    shown = `${(bytes / size).toFixed(decimals)} ${unit}`;
  }
  return shown;
}

function roundTo(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
