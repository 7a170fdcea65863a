package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class VaryByTest {

  private static final VaryBy DEVICE = new VaryBy(List.of("X-Device", "X-Region"));

  @Test
  void whatVaryDoesNotNameIsAdded() {
    assertThat(added("X-DEVICE, Accept")).isEqualTo("X-DEVICE, Accept, x-region");
    Fields none = new Fields();
    DEVICE.addTo(none);
    assertThat(none.joined(FieldName.VARY)).isEqualTo("x-device, x-region");
  }

  @Test
  void aStarSaysItAll() {
    assertThat(added("*")).isEqualTo("*");
  }

  @Test
  void rfc9111Section3_2AnUpdateWithoutVaryLeavesTheStoredOneInForce() {
    Fields update = Fields.of("ETag", "\"a\"");
    DEVICE.addToUpdate(update);
    assertThat(update.has(FieldName.VARY)).isFalse();
  }

  @Test
  void whatTellsTheClientsAddressTellsNothingApart() {
    assertThat(VaryBy.isPossible("Forwarded")).isFalse();
    assertThat(VaryBy.isPossible("*")).isFalse();
    assertThat(VaryBy.isPossible("X-Device")).isTrue();
  }

  private static @Nullable String added(String vary) {
    Fields fields = Fields.of("Vary", vary);
    DEVICE.addTo(fields);
    return fields.joined(FieldName.VARY);
  }
}
