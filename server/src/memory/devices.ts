/**
 * Known cards by the bytes that PyTorch can use of them, not by their label: the lowest `total capacity` that PyTorch's
 * own out-of-memory messages report for the card (ECC, the driver and the display take part of what is on the box). The
 * CUDA context comes on top of what a script allocates and is not taken off here.
 */

export interface Device {
  /** As the header writes it. */
  readonly name: string;
  readonly usableBytes: number;
}

/** GiB, two decimals, as PyTorch prints them. */
const usableGiB: Readonly<Record<string, number>> = {
  "gtx-1050-ti": 3.94,
  "gtx-1060-6gb": 5.93,
  "gtx-1070": 7.92,
  "gtx-1080": 7.92,
  "gtx-1080-ti": 10.91,
  "gtx-1650": 3.81,
  "gtx-1660-ti": 5.8,
  "titan-xp": 11.9,
  "titan-v": 11.78,
  "titan-rtx": 23.62,
  "rtx-2060": 5.79,
  "rtx-2070": 7.76,
  "rtx-2080": 7.76,
  "rtx-2080-ti": 10.75,
  "rtx-3050": 7.79,
  "rtx-3060": 11.76,
  "rtx-3060-ti": 7.78,
  "rtx-3070": 7.78,
  "rtx-3080": 9.77,
  "rtx-3080-ti": 11.76,
  "rtx-3090": 23.68,
  "rtx-4060": 7.75,
  "rtx-4060-ti-16gb": 15.7,
  "rtx-4070": 11.72,
  "rtx-4070-ti": 11.72,
  "rtx-4080": 15.69,
  "rtx-4090": 23.64,
  "rtx-5080": 15.45,
  "rtx-5090": 31.36,
  "rtx-a4000": 15.72,
  "rtx-a5000": 23.67,
  "rtx-a6000": 47.53,
  "rtx-6000-ada": 47.5,
  k80: 11.17,
  p4: 7.43,
  p40: 22.38,
  p100: 15.89,
  t4: 14.56,
  "v100-16gb": 15.77,
  "v100-32gb": 31.74,
  a10: 22.06,
  a10g: 22.03,
  a40: 44.34,
  "a100-40gb": 39.39,
  "a100-80gb": 79.14,
  l4: 22.03,
  l40: 44.39,
  l40s: 44.39,
  "h100-80gb": 79.1,
  "h200-141gb": 139.71,
};

const devices: readonly Device[] = Object.entries(usableGiB).map(([name, gib]) => ({
  name,
  usableBytes: Math.round(gib * 1024 ** 3),
}));

export const deviceNames: readonly string[] = devices.map(({ name }) => name);

/** A card by its name; case, spaces and hyphens do not count, nor does `nvidia` or `geforce` in front. */
export function findDevice(name: string): Device | undefined {
  const wanted = bare(name.replace(/^(nvidia|geforce|tesla|[\s_-])+/i, ""));
  return devices.find((device) => bare(device.name) === wanted);
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}
