// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import io.kubernetes.client.openapi.JSON;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Kubernetes would refuse nothing in deploy/kubernetes.yaml, nor ignore it.
 */
@FullProfileOnly
class KubernetesTests {

	private static final Path FILE = Path.of("deploy", "kubernetes.yaml");

	@Test
	void eachResourceHasAllFieldsThatItNeedsAndNoOthers() throws Exception {
		String resources = Files.readString(FILE);
		check(resources);
		assertThatExceptionOfType(InvocationTargetException.class)
			.isThrownBy(() -> check(resources.replace("readinessProbe", "readynessProbe")))
			.withStackTraceContaining("`readynessProbe`");
	}

	private static void check(String resources) throws Exception {
		// Else no kind of resource can be checked
		new JSON();
		for (Object resource : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(resources)) {
			JsonElement json = new Gson().toJsonTree(resource);
			String kind = json.getAsJsonObject().get("kind").getAsString();
			Class.forName("io.kubernetes.client.openapi.models.V1" + kind)
				.getMethod("validateJsonElement", JsonElement.class)
				.invoke(null, json);
		}
	}

}
