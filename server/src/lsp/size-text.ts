/** Bytes for people: 1024-based, with as many digits as matter. */
const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** `320000000` gives `305.2 MiB`, `5776775905` gives `5.38 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 ? 0 : unit >= 3 ? 2 : 1;
  return `${value.toFixed(digits)} ${units[unit] ?? "B"}`;
}
