package io.kamille.cache.settings;

import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.store.Variants;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The cache that all routes share.
 *
 * @param maxObjectSizeBytes head and content of the largest response stored
 * @param policy how to choose what is forgotten
 * @param compression what routes that compress do
 * @param storesSetCookie whether a response that sets a cookie may be stored (RFC 9111 §7.3)
 * @param purgeFrom the clients that may use the method PURGE; where there are none, it is not ours
 * @param tagFields response fields with tags, besides those that are always read
 * @param variants how many responses of one target URI are stored
 */
public record SharedCacheSettings(
    MemorySettings memory,
    long maxObjectSizeBytes,
    PolicyChoice policy,
    DiskSettings disk,
    CompressionRules compression,
    boolean storesSetCookie,
    AddressRanges purgeFrom,
    TagFields tagFields,
    int variants) {

  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  static final long LEAST_OBJECT = KIB;
  static final long GREATEST_OBJECT = 16L << 40;

  private static final String CODING_NAMES =
      Stream.of(ContentCoding.values()).map(ContentCoding::token).collect(Collectors.joining(", "));

  private static final Section<CompressionRules> COMPRESSION =
      Section.of(
          CompressionRules.class,
          Setting.of(
                  "codings",
                  ValueTypes.list(
                          "list of codings",
                          SharedCacheSettings::codingOf,
                          ContentCoding::token,
                          "one of " + CODING_NAMES)
                      .map(codings -> codings.stream().distinct().toList(), codings -> codings),
                  "The content codings that are made of each response, of `zstd`, `br` and `gzip`."
                      + " A request gets the one it gives the highest weight, of several the"
                      + " shortest. Each takes memory of its own and processor time once.")
              .defaultsTo(List.of(ContentCoding.values())),
          Setting.of(
                  "types",
                  ValueTypes.list(
                      "list of media types",
                      CompressionRules::isType,
                      "a media type such as text/html, text/* or application/*+json"),
                  "The media types that are compressed. One `*` stands for anything in a subtype.")
              .defaultsTo(
                  List.of(
                      "text/*",
                      "application/json",
                      "application/javascript",
                      "application/xml",
                      "application/*+json",
                      "application/*+xml",
                      "application/wasm",
                      "application/vnd.ms-fontobject",
                      "font/otf",
                      "font/ttf",
                      "image/svg+xml",
                      "image/bmp")),
          Row.fixed(KIB),
          Row.fixed(8 * MIB),
          Setting.of(
                  "set-cookie",
                  ValueTypes.onOff(),
                  "Whether responses with `Set-Cookie` are compressed, too. If such a page repeats"
                      + " text of the request beside a secret, its length tells the secret"
                      + " (BREACH).")
              .defaultsTo(false)
              .into("withSetCookie"));

  public static final Subsection<MemorySettings> MEMORY =
      MemorySettings.SECTION.one("memory", "The places of stored responses.");

  public static final Subsection<DiskSettings> DISK =
      DiskSettings.SECTION.one(
          "disk",
          "A store of responses on a disk, behind memory; see [disk](../operations/disk.md).");

  public static final Setting<Long> MAX_OBJECT_SIZE =
      Setting.of(
              "max-object-size",
              ValueTypes.size(LEAST_OBJECT, GREATEST_OBJECT),
              "The largest response that is stored, head and content together. At most"
                  + " `cache.memory.capacity`.")
          .defaultsTo(
              "an eighth of `cache.memory.capacity`",
              cache -> cache.one(MEMORY).value(MemorySettings.CAPACITY) / 8)
          .appliesOnRestart();

  public static final Setting<Boolean> STORE_SET_COOKIE =
      Setting.of(
              "store-set-cookie",
              ValueTypes.onOff(),
              "Whether a response with `Set-Cookie` may be stored and so be given, with its"
                  + " cookie, to many. RFC 9111 §7.3 lets a cache do so; most origins do not"
                  + " mean it. Off, such a response is stored only where `private` or"
                  + " `no-cache` lists the field, and without it. Not beside"
                  + " `upstreams.*.sticky`.")
          .defaultsTo(false);

  public static final Section<SharedCacheSettings> SECTION =
      Section.of(
          SharedCacheSettings.class,
          MEMORY,
          MAX_OBJECT_SIZE,
          Setting.of(
                  "policy",
                  ValueTypes.oneOf(PolicyChoice.values()),
                  "The policy of eviction when memory is short. `lru` evicts the least recently"
                      + " used, `tinylfu` the least frequently used (W-TinyLFU). `auto` watches"
                      + " what both would hit on a sample of the requests, and takes the better"
                      + " one. Changing the policy keeps what is stored.")
              .defaultsTo(PolicyChoice.AUTO),
          DISK,
          COMPRESSION.one("compression", "Compression on routes with `cache: {compress: on}`."),
          STORE_SET_COOKIE,
          Setting.of(
                  "purge-from",
                  AddressRanges.TYPE,
                  "Clients that may purge by the methods `PURGE`, `BAN` and `PURGEKEYS`: addresses"
                      + " and ranges (CIDR). If the list has ranges, these methods reach no origin"
                      + " on any route, and other clients get 403. Without, they are forwarded as"
                      + " any method that Kamille does not know. The address is that of the"
                      + " connection, or the one that `trusted-proxies` of the listener find.")
              .defaultsTo("none", cache -> AddressRanges.NONE),
          Setting.of(
                  "tag-fields",
                  ValueTypes.list(
                          "list of field names",
                          TagFields::isPossible,
                          "the name of a response field that Kamille does not use otherwise")
                      .map(TagFields::new, TagFields::names),
                  "Response fields with tags, besides `Surrogate-Key` and `Cache-Tag`. Clients do"
                      + " not get them. In `xkey`, blanks and commas separate tags; in all others,"
                      + " commas.")
              .defaultsTo(TagFields.USUAL),
          Setting.of(
                  "variants",
                  ValueTypes.wholeNumber(1, Variants.LIMIT),
                  "How many responses of one target URI are stored, told apart by `Vary` and"
                      + " `vary-by`. One more takes the place of the oldest. Each is compared with"
                      + " a request.")
              .defaultsTo(MemoryIndex.USUAL_VARIANTS));

  private static @Nullable ContentCoding codingOf(String name) {
    return Stream.of(ContentCoding.values())
        .filter(coding -> coding.token().equals(name))
        .findFirst()
        .orElse(null);
  }
}
