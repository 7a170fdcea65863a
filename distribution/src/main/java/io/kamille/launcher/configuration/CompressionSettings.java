package io.kamille.launcher.configuration;

import io.kamille.cache.semantics.CodingRules;
import io.kamille.cache.semantics.ContentCoding;
import io.kamille.core.setting.Parsed;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What routes with {@code cache.compress} compress, and how.
 *
 * @param codings the content codings that are made
 * @param types media types, as {@link CodingRules#isType} has them
 * @param minSizeBytes the shortest content worth it
 * @param maxSizeBytes the longest content
 */
public record CompressionSettings(
    List<ContentCoding> codings, List<String> types, long minSizeBytes, long maxSizeBytes) {

  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;

  private static final String CODING_NAMES =
      Stream.of(ContentCoding.values()).map(ContentCoding::token).collect(Collectors.joining(", "));

  static final Setting<List<ContentCoding>> CODINGS =
      Setting.of(
              "cache.compression.codings",
              new ValueType<>(
                  "list of codings",
                  CODING_NAMES,
                  true,
                  CompressionSettings::parseCodings,
                  CompressionSettings::print),
              "The content codings that are made of each response. A request gets the one it gives"
                  + " the highest weight, of several the shortest. Each takes memory of its own and"
                  + " processor time once.")
          .defaultsTo(List.of(ContentCoding.values()));

  static final Setting<List<String>> TYPES =
      Setting.of(
              "cache.compression.types",
              new ValueType<>(
                  "list of media types",
                  "",
                  true,
                  CompressionSettings::parseTypes,
                  types -> String.join(", ", types)),
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
                  "image/bmp"));

  static final Setting<Long> MIN_SIZE =
      Setting.of(
              "cache.compression.min-size",
              ValueTypes.size(1, GIB),
              "Shorter content is not compressed: it would not come in fewer packets.")
          .defaultsTo(KIB);

  static final Setting<Long> MAX_SIZE =
      Setting.of(
              "cache.compression.max-size",
              ValueTypes.size(KIB, GIB),
              "Longer content is not compressed: it would keep others waiting for a worker.")
          .defaultsTo(8 * MIB);

  static final Section SECTION =
      Section.one(
          "cache.compression",
          "What is compressed on routes with `cache: {compress: on}`.",
          CODINGS,
          TYPES,
          MIN_SIZE,
          MAX_SIZE);

  static CompressionSettings of(SectionValues values) {
    return new CompressionSettings(
        values.value(CODINGS), values.value(TYPES), values.value(MIN_SIZE), values.value(MAX_SIZE));
  }

  private static Parsed<List<ContentCoding>> parseCodings(String text) {
    List<ContentCoding> codings = new ArrayList<>();
    for (String name : members(text)) {
      ContentCoding coding = codingOf(name);
      if (coding == null) {
        return new Parsed.Refused<>("one of " + CODING_NAMES);
      }
      if (!codings.contains(coding)) {
        codings.add(coding);
      }
    }
    return new Parsed.Value<>(List.copyOf(codings));
  }

  private static @Nullable ContentCoding codingOf(String name) {
    for (ContentCoding coding : ContentCoding.values()) {
      if (coding.token().equals(name)) {
        return coding;
      }
    }
    return null;
  }

  private static String print(List<ContentCoding> codings) {
    return codings.stream().map(ContentCoding::token).collect(Collectors.joining(", "));
  }

  private static Parsed<List<String>> parseTypes(String text) {
    List<String> types = members(text);
    return types.stream().allMatch(CodingRules::isType)
        ? new Parsed.Value<>(types)
        : new Parsed.Refused<>("a media type such as text/html, text/* or application/*+json");
  }

  private static List<String> members(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(", *", -1));
  }
}
