package io.kamille.launcher.configuration;

import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * One origin server of an upstream.
 *
 * @param weight its share of the requests, relative to the others of its upstream
 */
public record OriginSettings(OriginUrl url, int weight) {

  static final Setting<OriginUrl> URL =
      Setting.of(
          "upstreams.*.origins[].url",
          ValueTypes.origin(),
          "Where the origin server is: `http://HOST[:PORT]`, port 80 when none is written.");

  static final Setting<Integer> WEIGHT =
      Setting.of(
              "upstreams.*.origins[].weight",
              ValueTypes.wholeNumber(1, 1_000),
              "The share of requests this origin gets, relative to the others of its upstream.")
          .defaultsTo(1);

  static final Section SECTION =
      Section.list(
              "upstreams.*.origins",
              "The origin servers. A bare URL stands for an origin of weight 1.",
              URL,
              WEIGHT)
          .withShorthand(URL)
          .atLeastOne("at least one origin");

  static OriginSettings of(SectionValues values) {
    return new OriginSettings(values.value(URL), values.value(WEIGHT));
  }
}
