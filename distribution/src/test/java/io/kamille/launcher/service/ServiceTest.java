package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.WatchedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** By what a reload knows that another version has been installed. */
class ServiceTest {

  @TempDir private Path home;
  private Path jar;

  @BeforeEach
  void install() throws IOException {
    jar = Files.createDirectories(home.resolve("lib")).resolve("kamille.jar");
    Files.writeString(jar, "version 1");
    Files.setLastModifiedTime(jar, FileTime.fromMillis(0));
  }

  @Test
  void aJarThatIsOverwrittenByOneOfItsSizeIsAnotherVersion() throws IOException {
    Path next = Files.writeString(home.resolve("next"), "version 2");
    WatchedFiles installed = Service.installed(home);
    assertThat(installed.isChanged()).isFalse();
    try (var out = Files.newOutputStream(jar)) {
      Files.copy(next, out);
    }
    assertThat(installed.isChanged()).isTrue();
  }

  @Test
  void aJarOfTheSizeAndTimeOfTheOldOneIsAnotherVersion() throws IOException {
    WatchedFiles installed = Service.installed(home);
    Path next = Files.writeString(home.resolve("next"), "version 2");
    Files.setLastModifiedTime(next, FileTime.fromMillis(0));
    Files.move(next, jar, StandardCopyOption.REPLACE_EXISTING);
    assertThat(installed.isChanged()).isTrue();
  }
}
