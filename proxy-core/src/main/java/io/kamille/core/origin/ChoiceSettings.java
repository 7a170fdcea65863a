package io.kamille.core.origin;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;

/**
 * How one of several origins is chosen for a request.
 *
 * @param hashKey what requests are hashed by, if they are
 * @param sticky how clients come back to the origin that they had
 * @param hedge when another one is asked besides
 */
public record ChoiceSettings(Algorithm kind, HashKey hashKey, StickySettings sticky, Hedge hedge) {

  /** The ways to choose that a setting may name. */
  public enum Algorithm {
    /** Of two origins drawn by weight, the one with fewer requests in flight for its weight. */
    POWER_OF_TWO,
    /** One after the other, in the proportion of the weights, well mixed. */
    ROUND_ROBIN,
    /** The same for the same key, while it has not much more to do than others. */
    CONSISTENT_HASH
  }

  public static final Setting<Algorithm> CHOICE =
      Setting.of(
              "choice",
              ValueTypes.oneOf(Algorithm.values()),
              "How one of several origins is chosen for a request: `power-of-two` takes the one"
                  + " with fewer requests in flight of two drawn by weight, `round-robin` takes"
                  + " each in turn by weight, `consistent-hash` takes the same for the same"
                  + " `hash-key`.")
          .into("kind")
          .defaultsTo(Algorithm.POWER_OF_TWO);

  public static final Setting<HashKey> HASH_KEY =
      Setting.of(
              "hash-key",
              HashKey.TYPE,
              "What `consistent-hash` hashes: the client's `address`, the `url`, a header field or"
                  + " a cookie. Requests without the field or cookie are hashed by address. An"
                  + " origin gets at most 1.25 times its share of the requests in flight.")
          .defaultsTo(HashKey.URL);

  public static final Subsection<StickySettings> STICKY =
      StickySettings.SECTION.one(
          "sticky", "How clients come back to the origin that they had, by a signed cookie.");

  public static final Setting<Hedge> HEDGE =
      Setting.of(
              "hedge",
              Hedge.TYPE,
              "If an origin sends no response head in this time, or 502, 503 or 504, Kamille sends"
                  + " a GET or HEAD without content to another origin too. The first good response"
                  + " wins. `p95` is the time that 19 of 20 requests take at present. Counts as a"
                  + " retry: at most a fifth of the requests.")
          .defaultsTo(Hedge.OFF);

  /** The settings of an upstream about it. */
  public static final Section<ChoiceSettings> SECTION =
      Section.of(ChoiceSettings.class, CHOICE, HASH_KEY, STICKY, HEDGE);
}
