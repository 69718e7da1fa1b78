-- A session tells what its GPUs did and how its runs were set up; those measured before told neither.
UPDATE session SET frame = json_set(frame, '$.before.gpus', json('[]'), '$.after.gpus', json('[]'),
                                    '$.settings', json('{}'));
