/** Sizes and cards as the header writes them. */
import { deviceNames, findDevice } from "../memory/devices";
import { parseSize } from "../memory/units";
import { headerMessages as texts } from "../messages/directives";
import type { Text } from "./comments";
import { report, shown } from "./context";
import type { ReadContext } from "./context";
import { nearest } from "./nearest";

/** Bytes; a mistake is reported and gives `undefined`. */
export function readSize(value: Text, context: ReadContext): number | undefined {
  const bytes = parseSize(value.text);
  if (bytes !== undefined && bytes > 0 && Number.isSafeInteger(bytes)) return bytes;
  reportBadSize(value, context);
  return undefined;
}

/** A size or a card's name. */
export function readDevice(
  value: Text,
  context: ReadContext,
): { readonly bytes: number; readonly card: string | undefined } | undefined {
  if (/^[-+\d.]/.test(value.text)) {
    const bytes = readSize(value, context);
    return bytes === undefined ? undefined : { bytes, card: undefined };
  }
  const device = findDevice(value.text);
  if (device !== undefined) return { bytes: device.usableBytes, card: device.name };
  const near = nearest(value.text.replace(/[\s_]+/g, "-"), deviceNames);
  if (near === undefined) report(context, value, texts.unknownDevice, { text: shown(value.text) });
  else report(context, value, texts.unknownDeviceNearest, { text: shown(value.text), nearest: near }, near);
  return undefined;
}

function reportBadSize(value: Text, context: ReadContext): void {
  const text = shown(value.text);
  if (/^\d+(?:\.\d+)?$/.test(value.text) && Number(value.text) > 0) {
    report(context, value, texts.sizeWithoutUnit, { text }, withUnit(value.text));
    return;
  }
  const unit = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(value.text);
  const near = unit ? nearest(unit[2] ?? "", ["GiB", "MiB", "KiB", "GB", "MB"], unitMeanings) : undefined;
  report(
    context,
    value,
    texts.badSize,
    { text },
    unit && near !== undefined ? `${unit[1]}${near}` : undefined,
  );
}

const unitMeanings: Readonly<Record<string, string>> = {
  g: "GiB",
  gi: "GiB",
  gig: "GiB",
  gigabytes: "GB",
  m: "MiB",
  mi: "MiB",
  megabytes: "MB",
  k: "KiB",
  ki: "KiB",
};

/** A bare number is GiB where a card could have so many, MiB above that. */
function withUnit(number: string): string {
  return Number(number) <= 1024 ? `${number}GiB` : `${number}MiB`;
}
