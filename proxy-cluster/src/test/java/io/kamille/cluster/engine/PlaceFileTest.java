package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.engine.PlaceFile.Place;
import java.nio.file.Files;
import java.nio.file.Path;
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
}
