package io.kamille.admin.api;

import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/** How we read and write JSON. A start does not need it, which has a tenth of all classes. */
final class JsonMapping {

  static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .build();

  private JsonMapping() {}
}
