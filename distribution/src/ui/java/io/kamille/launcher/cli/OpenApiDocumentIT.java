package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The API's description, by the schema of the OpenAPI Initiative
 * (spec.openapis.org/oas/3.1/schema/2022-10-07), and each schema in it by that of JSON Schema.
 */
class OpenApiDocumentIT {

  @TempDir private Path directory;

  private static String officialSchema() throws IOException {
    try (InputStream in = OpenApiDocumentIT.class.getResourceAsStream("/openapi-3.1.json")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private JsonNode document() throws Exception {
    try (KamilleProcess kamille =
        KamilleProcess.start(
            directory,
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--listen-tls",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0")) {
      kamille.awaitLine("Ctrl-C stops it");
      LocalApi api = new LocalApi(directory.resolve("demo"));
      return JsonMapper.builder()
          .build()
          .readTree(api.ask("GET", "/v1/openapi.json", Map.of(), null).content());
    }
  }

  @Test
  void theDocumentIsValid() throws Exception {
    SchemaRegistry registry = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    Schema official = registry.getSchema(officialSchema(), InputFormat.JSON);
    JsonNode document = document();
    List<Error> wrong = official.validate(document.toString(), InputFormat.JSON);
    assertThat(wrong).isEmpty();
    assertThat(official.validate("{\"openapi\":\"3.1.0\"}", InputFormat.JSON))
        .as("the schema refuses what is no document")
        .isNotEmpty();
    List<JsonNode> schemas = new ArrayList<>(document.findValues("schema"));
    schemas.addAll(document.path("components").path("schemas").values());
    assertThat(schemas).hasSizeGreaterThan(50);
    Schema metaSchema =
        registry.getSchema(
            "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", InputFormat.JSON);
    for (JsonNode schema : schemas) {
      assertThat(metaSchema.validate(schema.toString(), InputFormat.JSON))
          .as(schema.toString())
          .isEmpty();
    }
  }
}
