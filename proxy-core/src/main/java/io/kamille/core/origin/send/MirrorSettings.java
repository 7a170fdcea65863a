package io.kamille.core.origin.send;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import org.jspecify.annotations.Nullable;

/**
 * Which upstream gets copies of requests, whose answers nobody sees.
 *
 * @param upstream its name; null for none
 * @param share of the requests that it gets, above 0 and up to 1
 */
public record MirrorSettings(@Nullable String upstream, double share) {

  public static final Setting<String> UPSTREAM =
      Setting.of(
              "upstream",
              ValueTypes.upstream(),
              "The upstream that gets copies of forwarded requests. Its responses are dropped.")
          .orElse("no copies");

  public static final Section<MirrorSettings> SECTION =
      Section.of(
          MirrorSettings.class,
          UPSTREAM,
          Setting.of(
                  "share",
                  ValueTypes.positiveRatio(),
                  "The share of the requests that are copied, at random. Only safe methods without"
                      + " content are. At most 256 copies of a route are under way; further ones"
                      + " are dropped.")
              .defaultsTo(1.0));
}
