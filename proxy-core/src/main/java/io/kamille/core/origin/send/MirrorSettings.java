package io.kamille.core.origin.send;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import org.jspecify.annotations.Nullable;

/**
 * Which upstream gets copies of requests, whose answers nobody sees.
 *
 * @param upstream its name; null for none
 */
public record MirrorSettings(@Nullable String upstream) {

  public static final Setting<String> UPSTREAM =
      Setting.of(
              "upstream",
              ValueTypes.upstream(),
              "The upstream that gets copies of forwarded requests. Its responses are dropped. Only"
                  + " safe methods without content are copied. At most 256 copies of a route are"
                  + " under way; further ones are dropped.")
          .orElse("no copies");

  public static final Section<MirrorSettings> SECTION = Section.of(MirrorSettings.class, UPSTREAM);
}
