package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FoliosTest {

  @TempDir private Path root;

  @ParameterizedTest
  @CsvSource({
    "always inherit within_size [advise] never, never, 65536",
    "[always] inherit within_size advise never, never, 65536",
    "always inherit within_size advise [never], [always] never, 4096",
    "always [inherit] within_size advise never, always [advise] never, 65536",
    "always [inherit] within_size advise never, always advise [never] deny, 4096",
    "always [inherit] within_size advise never, always never [deny] force, 4096",
    "unknown, never, 4096",
  })
  void theHostChooses(String ofSixtyFour, String ofAll, int bytes) throws IOException {
    Path own = root.resolve(Folios.SWITCH);
    Files.createDirectories(own.getParent());
    Files.writeString(own, ofSixtyFour + "\n");
    Files.writeString(own.resolveSibling("../shmem_enabled"), ofAll + "\n");
    assertThat(Folios.bytes(root)).isEqualTo(bytes);
  }

  @Test
  void aKernelWithoutTheSwitchHasSmallPages() {
    assertThat(Folios.bytes(root)).isEqualTo(4096);
  }
}
