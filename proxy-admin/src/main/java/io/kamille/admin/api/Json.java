package io.kamille.admin.api;

import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/** How we read and write JSON. Stateless; any thread. */
public final class Json {

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .build();

  private Json() {}

  static JsonMapper mapper() {
    return MAPPER;
  }

  /** One value and a line feed. */
  public static String write(Object value) {
    return MAPPER.writeValueAsString(value) + "\n";
  }
}
