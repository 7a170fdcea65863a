package io.kamille.core.origin.choose;

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
 * @param share of the clients that it gets, above 0 and up to 1
 */
public record SplitSettings(@Nullable String upstream, double share) {

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
                      "The share of the clients, by address, that get it. If you raise it, those"
                          + " who have it keep it.")
                  .defaultsTo(0.1))
          .checkedBy((split, problems) -> problems.needs(split, UPSTREAM, "upstream"));

  /**
   * Whether a client goes to the other upstream. Its address makes a number between 0 and 1, the
   * same in each process and after each reload. Numbers below the share go there: a greater share
   * adds clients and takes none back.
   */
  public boolean takes(InetAddress client) {
    return (HashKey.mix(HashKey.address(client)) >>> 11) * 0x1.0p-53 < share;
  }
}
