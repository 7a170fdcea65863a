package io.kamille.launcher.configuration;

import io.kamille.core.setting.AddressRange;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The cache that all routes share.
 *
 * @param memoryCapacityBytes off-heap, taken at start
 * @param sendfileFromBytes content that long goes to clients by sendfile; empty for none
 * @param maxObjectSizeBytes head and content of the largest response stored
 * @param policy how to choose what is forgotten
 * @param disk the store on a disk; empty for none
 * @param compression what routes that compress do
 * @param storesSetCookie whether a response that sets a cookie may be stored (RFC 9111 §7.3)
 * @param statusField how this cache names itself in Cache-Status (RFC 9211); empty for no field
 * @param statusKey whether Cache-Status tells the cache key
 * @param purgeFrom the clients that may use the method PURGE; where there are none, it is not ours
 */
public record CacheSettings(
    long memoryCapacityBytes,
    Optional<Long> sendfileFromBytes,
    long maxObjectSizeBytes,
    Policy policy,
    Optional<DiskSettings> disk,
    CompressionSettings compression,
    boolean storesSetCookie,
    Heuristic heuristic,
    Collapse collapse,
    Optional<String> statusField,
    boolean statusKey,
    List<String> purgeFrom) {

  /**
   * Freshness of responses that say nothing about it (RFC 9111 §4.2.2).
   *
   * @param fraction of the time since the last modification, 0–1
   */
  public record Heuristic(boolean isEnabled, double fraction, Duration limit) {}

  /** How to choose what is forgotten. */
  public enum Policy {
    AUTO,
    TINYLFU,
    LRU
  }

  /** Whether and how long requests wait for one that was forwarded before them (RFC 9111 §4). */
  public record Collapse(boolean isEnabled, Duration waitTimeout) {}

  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long TIB = 1L << 40;

  static final long LEAST_OBJECT = KIB;
  static final long GREATEST_OBJECT = 16 * TIB;

  static final Setting<Long> MEMORY_CAPACITY =
      Setting.of(
              "cache.memory.capacity",
              ValueTypes.size(MIB, 16 * TIB),
              "Memory for stored responses, taken at start and never exceeded. It lies outside the"
                  + " Java heap and comes on top of it.")
          .defaultsTo(256 * MIB)
          .appliesOnRestart();

  static final Setting<Optional<Long>> SENDFILE_FROM =
      Setting.of(
              "cache.memory.sendfile-from",
              ValueTypes.orWord("off", ValueTypes.size(32 * KIB, 16 * TIB)),
              "Stored content of at least this size is sent to clients by sendfile(2), without being"
                  + " copied, once it was sent seven times. `off` copies everything. Either way"
                  + " content is copied where the connection or the kernel does not allow it; the"
                  + " log says at start if the kernel does not.")
          .defaultsTo(Optional.of(128 * KIB))
          .appliesOnRestart();

  static final Section MEMORY =
      Section.one("cache.memory", "Where stored responses lie.", MEMORY_CAPACITY, SENDFILE_FROM);

  static final Setting<Long> MAX_OBJECT_SIZE =
      Setting.of(
              "cache.max-object-size",
              ValueTypes.size(LEAST_OBJECT, GREATEST_OBJECT),
              "The largest response that is stored, head and content together. At most"
                  + " `cache.memory.capacity`.")
          .defaultsTo(
              "an eighth of `cache.memory.capacity`",
              cache -> cache.one(MEMORY).value(MEMORY_CAPACITY) / 8)
          .appliesOnRestart();

  static final Setting<Policy> POLICY =
      Setting.of(
              "cache.policy",
              ValueTypes.oneOf(Policy.values()),
              "What is forgotten when memory is short: with `lru`, what was not used for the longest"
                  + " time; with `tinylfu`, what is used seldom (W-TinyLFU). `auto` watches what"
                  + " both would hit on a sample of the requests, and takes the better one."
                  + " Changing the policy keeps what is stored.")
          .defaultsTo(Policy.AUTO);

  static final Setting<Boolean> STORE_SET_COOKIE =
      Setting.of(
              "cache.store-set-cookie",
              ValueTypes.onOff(),
              "Whether a response with `Set-Cookie` may be stored and so be given, with its cookie,"
                  + " to many. RFC 9111 §7.3 lets a cache do so; most origins do not mean it. Off,"
                  + " such a response is stored only where `private` or `no-cache` lists the field,"
                  + " and without it.")
          .defaultsTo(false);

  static final Setting<Boolean> HEURISTIC_ENABLED =
      Setting.of(
              "cache.heuristic.enabled",
              ValueTypes.onOff(),
              "Whether a response without freshness information may be reused for a guessed time"
                  + " (RFC 9111 §4.2.2). It needs a `Last-Modified` field to guess from.")
          .defaultsTo(true);

  static final Setting<Double> HEURISTIC_FRACTION =
      Setting.of(
              "cache.heuristic.fraction",
              ValueTypes.ratio(),
              "The guess, as a share of the time since the last modification.")
          .defaultsTo(0.1);

  static final Setting<Duration> HEURISTIC_LIMIT =
      Setting.of(
              "cache.heuristic.limit",
              ValueTypes.duration(Duration.ofSeconds(1), Duration.ofDays(365)),
              "The longest guess.")
          .defaultsTo(Duration.ofHours(24));

  static final Section HEURISTIC =
      Section.one(
          "cache.heuristic",
          "How long responses that say nothing about it may be reused.",
          HEURISTIC_ENABLED,
          HEURISTIC_FRACTION,
          HEURISTIC_LIMIT);

  static final Setting<Boolean> COLLAPSE_ENABLED =
      Setting.of(
              "cache.collapse.enabled",
              ValueTypes.onOff(),
              "Whether requests for a response that is just being fetched wait for it instead of"
                  + " being forwarded too.")
          .defaultsTo(true);

  static final Setting<Duration> COLLAPSE_WAIT_TIMEOUT =
      Setting.of(
              "cache.collapse.wait-timeout",
              ValueTypes.duration(Duration.ofMillis(1), Duration.ofMinutes(10)),
              "How long such a request waits for the response head before another one is forwarded,"
                  + " for all that wait.")
          .defaultsTo(Duration.ofSeconds(5));

  static final Section COLLAPSE =
      Section.one(
          "cache.collapse",
          "What happens to several requests for the same missing response.",
          COLLAPSE_ENABLED,
          COLLAPSE_WAIT_TIMEOUT);

  static final Setting<Optional<String>> STATUS_FIELD =
      Setting.of(
              "cache.status-field",
              ValueTypes.orWord("off", ValueTypes.token()),
              "How this cache names itself in the `Cache-Status` field of responses (RFC 9211), or"
                  + " `off` to send none.")
          .defaultsTo(Optional.of("kamille"));

  static final Setting<Boolean> STATUS_KEY =
      Setting.of(
              "cache.status-key",
              ValueTypes.onOff(),
              "Whether the `Cache-Status` field tells the cache key too, which is the target URI"
                  + " (RFC 9211 §2.7).")
          .defaultsTo(false);

  static final Setting<List<String>> PURGE_FROM =
      Setting.of(
              "cache.purge-from",
              AccessSettings.addresses(),
              "Clients that may remove what is stored for a URL by the method `PURGE`: addresses"
                  + " and ranges (CIDR). Where any are given, `PURGE` reaches no origin on any"
                  + " route, and others are refused with 403. Without, it is forwarded as any"
                  + " method that Kamille does not know. What counts is the address that the"
                  + " connection comes from: that of a load balancer stands for all who come"
                  + " through it.")
          .defaultsTo("none", cache -> List.of());

  static final Section SECTION =
      Section.one(
          "cache",
          "The cache that all routes share.",
          MEMORY,
          MAX_OBJECT_SIZE,
          POLICY,
          DiskSettings.SECTION,
          CompressionSettings.SECTION,
          STORE_SET_COOKIE,
          HEURISTIC,
          COLLAPSE,
          STATUS_FIELD,
          STATUS_KEY,
          PURGE_FROM);

  static CacheSettings of(SectionValues values) {
    SectionValues heuristic = values.one(HEURISTIC);
    SectionValues collapse = values.one(COLLAPSE);
    return new CacheSettings(
        values.one(MEMORY).value(MEMORY_CAPACITY),
        values.one(MEMORY).value(SENDFILE_FROM),
        values.value(MAX_OBJECT_SIZE),
        values.value(POLICY),
        DiskSettings.of(values.one(DiskSettings.SECTION)),
        CompressionSettings.of(values.one(CompressionSettings.SECTION)),
        values.value(STORE_SET_COOKIE),
        new Heuristic(
            heuristic.value(HEURISTIC_ENABLED),
            heuristic.value(HEURISTIC_FRACTION),
            heuristic.value(HEURISTIC_LIMIT)),
        new Collapse(collapse.value(COLLAPSE_ENABLED), collapse.value(COLLAPSE_WAIT_TIMEOUT)),
        values.value(STATUS_FIELD),
        values.value(STATUS_KEY),
        values.value(PURGE_FROM));
  }

  /** {@link #purgeFrom}, understood. */
  public List<AddressRange> purgeRanges() {
    return purgeFrom.stream().map(AddressRange::parse).filter(Objects::nonNull).toList();
  }
}
