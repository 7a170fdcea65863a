package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.engine.PlaceFile.Place;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlaceFileTest {

  @Test
  void afterItsEndTheFileIsThatOfTheNextProcess(@TempDir Path directory) throws Exception {
    Path path = directory.resolve("applied");
    PlaceFile file = new PlaceFile(path);
    file.writeSoon(new Place(7, 1));
    file.close();
    assertThat(new PlaceFile(path).read()).isEqualTo(new Place(7, 1));
    Files.delete(path);
    file.write(new Place(7, 2));
    assertThat(path).doesNotExist();
  }

  /** The content under the name it is written by, and the directory with its own name. */
  @Test
  void whatIsWrittenOutlivesAPowerCut(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("applied");
    Path events = directory.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.FileForce").withThreshold(Duration.ZERO).withoutStackTrace();
      recording.start();
      PlaceFile.replace(file, new byte[16]);
      recording.stop();
      recording.dump(events);
    }
    assertThat(RecordingFile.readAllEvents(events))
        .extracting(event -> Path.of(event.getString("path")))
        .filteredOn(path -> path.startsWith(directory))
        .satisfiesExactly(
            content -> assertThat(content.getParent()).isEqualTo(directory),
            names -> assertThat(names).isEqualTo(directory));
  }
}
