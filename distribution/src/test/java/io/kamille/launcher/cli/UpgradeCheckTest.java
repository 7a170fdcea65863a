package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** When {@code kamille cluster upgrade-check} says no, of a version with the levels 4 and 5. */
class UpgradeCheckTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static JsonNode cluster(String changed, String change, int level) {
    String node =
        "{\"node\":\"b\",\"state\":\"member\",\"current\":true,\"diverged\":false,\"level\":5}";
    return JSON.readTree(
        "{\"quorum\":true,\"level\":"
            + level
            + ",\"members\":["
            + node.replace("\"b\"", "\"a\"")
            + ","
            + node.replace(changed, change)
            + "]}");
  }

  @Test
  void nodesOfTwoLevelsThatFollowEachOtherAreUpgraded() {
    assertThat(ClusterCommand.UpgradeCheck.objections(cluster("", "", 5), 4, 5)).isEmpty();
    JsonNode mixed = cluster("\"level\":5", "\"level\":4", 4);
    assertThat(ClusterCommand.UpgradeCheck.objections(mixed, 4, 5)).as("forward").isEmpty();
    JsonNode halfway = cluster("\"level\":5", "\"level\":6", 5);
    assertThat(ClusterCommand.UpgradeCheck.objections(halfway, 4, 5)).as("and back").isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '|',
      value = {
        "\"state\":\"member\",\"state\":\"away\",b is away",
        "\"state\":\"member\",\"state\":\"draining\",b is draining",
        "\"current\":true,\"current\":false,b is not current",
        "\"diverged\":false,\"diverged\":true,b has diverged",
        "\"level\":5,\"level\":3,b is of level 3 (expected: at least 4)"
      })
  void aNodeThatDoesNotFollowIsNamed(String changed, String change, String objection) {
    assertThat(ClusterCommand.UpgradeCheck.objections(cluster(changed, change, 4), 4, 5))
        .containsExactly(objection);
  }

  @Test
  void aVersionThatCannotReadTheLogIsRefused() {
    assertThat(ClusterCommand.UpgradeCheck.objections(cluster("", "", 6), 4, 5))
        .containsExactly("the log may have entries of level 6 (expected: at most 5)");
  }

  @Test
  void nothingThatIsMissingIsTakenForConsent() {
    JsonNode nothing = JSON.readTree("{\"members\":[{\"node\":\"a\"}]}");
    assertThat(ClusterCommand.UpgradeCheck.objections(nothing, 4, 5)).hasSize(2);
  }
}
