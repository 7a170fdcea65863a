package io.kamille.core.origin;

import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * One origin server of an upstream.
 *
 * @param weight its share of the requests, relative to the others of its upstream
 * @param backup whether it gets requests only while no other origin is in
 */
public record OriginSettings(OriginUrl url, int weight, boolean backup) {

  /** What a bare value stands for. */
  public static final Setting<OriginUrl> URL =
      Setting.of(
          "url",
          ValueTypes.origin(),
          "The address of the origin server: `http://HOST[:PORT]`, or `https://HOST[:PORT]` for"
              + " TLS. Port 80 or 443 when none is written. A name that ends with a dot is looked"
              + " up without search domains.");

  public static final Setting<Integer> WEIGHT =
      Setting.of(
              "weight",
              ValueTypes.wholeNumber(1, 1_000),
              "The share of requests this origin gets, relative to the others of its upstream.")
          .defaultsTo(1);

  public static final Setting<Boolean> BACKUP =
      Setting.of(
              "backup",
              ValueTypes.onOff(),
              "Whether this origin gets requests only while no origin without `backup` is in.")
          .defaultsTo(false);

  public static final Section<OriginSettings> SECTION =
      Section.of(OriginSettings.class, URL, WEIGHT, BACKUP);
}
