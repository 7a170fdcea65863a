package io.kamille.core.origin.choose;

import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.HashKey;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Which part of a route's clients another upstream gets.
 *
 * @param upstream its name; null for none
 * @param share of the keys that it gets, above 0 and up to 1
 * @param key what decides, always alike
 */
public record SplitSettings(@Nullable String upstream, double share, HashKey key) {

  public static final Setting<String> UPSTREAM =
      Setting.of(
              "upstream",
              ValueTypes.upstream(),
              "The upstream that a part of the clients gets, such as one with a new version.")
          .orElse("the route's own for all");

  public static final Section<SplitSettings> SECTION =
      Section.of(
          SplitSettings.class,
          UPSTREAM,
          Setting.of(
                  "share",
                  ValueTypes.positiveRatio(),
                  "The share of the clients that get it. If you raise it, those who have it keep"
                      + " it.")
              .defaultsTo(0.1),
          Setting.of(
                  "key",
                  HashKey.TYPE,
                  "What tells clients apart: their `address`, the `url`, a header field or a"
                      + " cookie. Requests without the field or cookie are told apart by address.")
              .defaultsTo(HashKey.ADDRESS));

  /**
   * Whether a request goes to the other upstream. A key is a number between 0 and 1, the same in
   * each process and after each reload. Keys below the share go there: a greater share adds keys
   * and takes none back.
   */
  public boolean takes(RequestHead request, InetAddress client) {
    return (HashKey.mix(key.of(request, client)) >>> 11) * 0x1.0p-53 < share;
  }
}
