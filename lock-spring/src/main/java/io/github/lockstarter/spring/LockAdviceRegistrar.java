// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers the attributes of {@link EnableDistributedLocks} as a bean.
 */
class LockAdviceRegistrar implements ImportBeanDefinitionRegistrar {

	@Override
	public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
		MergedAnnotation<EnableDistributedLocks> enabled = metadata.getAnnotations().get(EnableDistributedLocks.class);
		EnableDistributedLocks attributes = enabled.synthesize();
		registry.registerBeanDefinition("distributedLockAdvice",
				BeanDefinitionBuilder.rootBeanDefinition(LockAdvice.class)
					.addConstructorArgValue(attributes.mode())
					.addConstructorArgValue(attributes.order())
					.addConstructorArgValue(attributes.onActiveTransaction())
					.addConstructorArgValue(attributes.persistenceContext())
					.addConstructorArgValue(false)
					.setRole(BeanDefinition.ROLE_INFRASTRUCTURE)
					.getBeanDefinition());
	}

}
